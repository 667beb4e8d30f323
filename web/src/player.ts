/**
 * The one cursor. Everything on screen is a function of it: how many changes of the run have happened. Runs that are
 * compared move together: the same step, and the same share of its changes.
 */
import { useSyncExternalStore } from "react";
import { addressNow, go } from "./address";
import { podOf } from "./derive";
import type { Run } from "./run";
import { Replay } from "./replay";

export const SPEEDS = [1, 4, 20, 100, 500, 2500];

/** The last place of a sorted list whose value is at most this; -1: none. */
function lastUpTo(values: ArrayLike<number>, most: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= most) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export class Player {
  readonly replays: Replay[];
  /** The run whose changes the cursor counts: with most steps, else one with attempts, which a cluster as it is has none of. */
  readonly run: Run;
  tick: number;
  isPlaying = false;
  speed = 4;
  /** The attempt that was just stepped to: its pod flies to its node. */
  flown = -1;
  private version = 0;
  private readonly followers = new Set<() => void>();
  private writing = 0;
  private readonly frames: { last: number; owed: number } = { last: 0, owed: 0 };

  constructor(readonly runs: Run[]) {
    const weight = (run: Run) => 2 * run.steps.length + Number(run.tickOf.length > 0);
    this.run = runs.reduce((most, run) => (weight(run) > weight(most) ? run : most), runs[0]);
    this.replays = runs.map((run) => new Replay(run));
    this.tick = this.end;
    this.follow();
    addEventListener("hashchange", () => this.follow());
  }

  get end(): number {
    return this.run.changes.kind.length;
  }

  get start(): number {
    return this.run.start;
  }

  /** The place of the step at the cursor; -1 before the first one. The end of the run is in its last step. */
  get step(): number {
    if (this.tick >= this.end) return this.run.steps.length - 1;
    return this.tick > this.start ? this.run.changes.step[this.tick - 1] : -1;
  }

  get minor(): number {
    if (this.tick >= this.end) return this.run.steps.at(-1)?.minors ?? 0;
    return this.tick > this.start ? this.run.changes.minor[this.tick - 1] : 0;
  }

  /** In milliseconds since the first step. */
  get time(): number {
    const last = this.tick > this.start ? this.run.changes.time[this.tick - 1] : 0;
    return this.tick >= this.end ? Math.max(last, (this.run.steps.at(-1)?.time ?? 0) / 1000) : last;
  }

  /** The attempt that was made last; -1: none yet. */
  get attempt(): number {
    return lastUpTo(this.run.tickOf, this.tick);
  }

  replay(run: Run): Replay {
    return this.replays[this.runs.indexOf(run)];
  }

  seek(tick: number, options: { flown?: number; isFollowing?: boolean } = {}): void {
    this.tick = Math.min(Math.max(Math.round(tick), this.start), this.end);
    this.flown = options.flown ?? -1;
    for (const replay of this.replays) replay.seek(replay.run === this.run ? this.tick : this.sameMoment(replay.run));
    this.tell();
    if (!options.isFollowing) this.write();
  }

  /** The same moment in another run: the same share of the same step. */
  private sameMoment(other: Run): number {
    const { step } = this;
    if (step < 0) return other.start;
    const place = other.steps.findIndex((each) => each.label === this.run.steps[step].label);
    if (place < 0) return step >= other.steps.length ? other.changes.kind.length : other.stepEnds[step];
    const from = (run: Run, at: number) => (at ? run.stepEnds[at - 1] : run.start);
    const share = (this.tick - from(this.run, step)) / Math.max(1, this.run.stepEnds[step] - from(this.run, step));
    return Math.round(from(other, place) + share * (other.stepEnds[place] - from(other, place)));
  }

  nextDecision(direction: number): void {
    const { tickOf } = this.run;
    const now = this.attempt;
    const isOn = now >= 0 && tickOf[now] === this.tick;
    const next = direction > 0 ? now + 1 : isOn ? now - 1 : now;
    if (next >= 0 && next < tickOf.length) this.seek(tickOf[next], { flown: direction > 0 ? next : -1 });
    else this.seek(direction > 0 ? this.end : this.start);
  }

  nextStep(direction: number): void {
    const { stepEnds } = this.run;
    const ends = [this.start, ...stepEnds];
    const next = direction > 0 ? ends.find((end) => end > this.tick) : ends.findLast((end) => end < this.tick);
    this.seek(next ?? (direction > 0 ? this.end : this.start));
  }

  toStep(place: number): void {
    this.seek(place < 0 ? this.start : this.run.stepEnds[place]);
  }

  toAttempt(attempt: number): void {
    this.seek(this.run.tickOf[attempt]);
  }

  play(): void {
    if (this.isPlaying) return;
    if (this.tick >= this.end) this.seek(this.start);
    this.isPlaying = true;
    Object.assign(this.frames, { last: performance.now(), owed: 1 });
    const frame = (now: number) => {
      if (!this.isPlaying) return;
      const { frames } = this;
      frames.owed += ((now - frames.last) / 1000) * this.speed;
      frames.last = now;
      const whole = Math.floor(frames.owed);
      if (whole > 0) {
        frames.owed -= whole;
        const next = this.attempt + whole;
        if (next < this.run.tickOf.length) this.seek(this.run.tickOf[next], { flown: whole === 1 && this.speed <= 4 ? next : -1 });
        else {
          this.seek(this.end);
          this.pause();
          return;
        }
      }
      requestAnimationFrame(frame);
    };
    this.tell();
    requestAnimationFrame(frame);
  }

  pause(): void {
    this.isPlaying = false;
    this.tell();
    this.write();
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.tell();
  }

  subscribe = (follow: () => void): (() => void) => {
    this.followers.add(follow);
    return () => this.followers.delete(follow);
  };

  snapshot = (): number => this.version;

  private tell(): void {
    this.version += 1;
    this.followers.forEach((follow) => follow());
  }

  /** How the address names the cursor. */
  address(): { step: string; decision: string } {
    if (this.tick >= this.end) return { step: "", decision: "" };
    const { step, attempt } = this;
    if (step < 0) return { step: "before", decision: "" };
    const label = this.run.steps[step].label;
    if (attempt >= 0 && this.run.tickOf[attempt] === this.tick) {
      return { step: `${label}.${this.minor}`, decision: String(attempt + 1) };
    }
    return { step: this.run.stepEnds[step] === this.tick ? label : `${label}.${this.minor}`, decision: "" };
  }

  /** Write the cursor into the address when it rests: browsers limit how often that may happen. */
  private write(): void {
    clearTimeout(this.writing);
    if (this.isPlaying) return;
    this.writing = window.setTimeout(() => {
      const { pod } = addressNow();
      const cursor = this.address();
      const shown = pod ? podOf(this.run, pod, addressNow().life) : -1;
      const isOther = shown >= 0 && cursor.decision !== "" && this.run.attempts.pod[Number(cursor.decision) - 1] !== shown;
      go({ ...cursor, attempt: "", ...(isOther ? { pod: "", life: "" } : {}) });
    }, 120);
  }

  /** Go where the address says. */
  follow(): void {
    const { step, decision, pod, life, attempt } = addressNow();
    const { run } = this;
    const number = Number(decision);
    const place = pod ? podOf(run, pod, life) : -1;
    const tries = place >= 0 ? run.attemptsOf(place) : [];
    let tick = this.end;
    if (number >= 1 && number <= run.tickOf.length) tick = run.tickOf[number - 1];
    else if (step) tick = this.momentOf(step);
    else if (tries.length) tick = run.tickOf[tries[attempt === undefined ? tries.length - 1 : Math.min(Math.max(Number(attempt) || 0, 0), tries.length - 1)]];
    this.seek(tick, { isFollowing: true });
  }

  /** `7` is the end of step 7, `7.1` the end of its minor step 1, `before` the state before the first step. */
  private momentOf(text: string): number {
    if (text === "before") return this.start;
    const [label, minor] = text.split(".");
    const place = this.run.steps.findIndex((step) => step.label === label);
    if (place < 0) return this.end;
    if (minor === undefined) return this.run.stepEnds[place];
    const from = place ? this.run.stepEnds[place - 1] : this.start;
    let tick = from;
    while (tick < this.run.stepEnds[place] && this.run.changes.minor[tick] <= Number(minor)) tick += 1;
    return tick;
  }
}

/** Render again whenever the cursor moves. */
export function usePlayer(player: Player): Player {
  useSyncExternalStore(player.subscribe, player.snapshot);
  return player;
}
