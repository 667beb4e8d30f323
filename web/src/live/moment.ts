/** The cursor of the live view: now, until the user scrubs back. */
import { useSyncExternalStore } from "react";
import type { Replay } from "../replay";
import type { Feed } from "./feed";
import { History } from "./history";

class Moment {
  readonly history = new History();
  /** The cluster at the chosen moment; undefined: now. */
  past: Replay | undefined;
  isPlaying = false;
  speed = 4;
  private version = 0;
  private readonly followers = new Set<() => void>();

  /** How many changes have happened at the cursor, and how many there are to scrub over. */
  get tick(): number {
    return this.past?.tick ?? this.history.changes.length;
  }

  get end(): number {
    return this.past?.run.changes.kind.length ?? this.history.changes.length;
  }

  /** In milliseconds; undefined while nothing was seen. */
  get time(): number | undefined {
    return this.history.changes[Math.max(0, this.tick - 1)]?.time;
  }

  /** Remember what both feeds have now. */
  take(nodes: Feed, pods: Feed): void {
    const before = this.history.changes.length;
    this.history.take(nodes, pods, Date.now());
    if (this.history.changes.length !== before) this.tell();
  }

  seek(tick: number): void {
    if (tick >= this.end) return this.live();
    this.past ??= this.history.freeze();
    this.past.seek(Math.max(0, tick));
    this.tell();
  }

  /**
   * Go on to the next moment at which something happened: changes of one kind at one time belong together. Timestamps of
   * objects are whole seconds, so that nodes and the pods on them may have come at the same time.
   */
  next(direction: number): void {
    const { changes } = this.history;
    const isSame = (i: number) => changes[i].time === changes[i - 1].time && changes[i].kind === changes[i - 1].kind;
    let tick = this.tick + direction;
    while (tick > 0 && tick < changes.length && isSame(tick)) tick += direction;
    this.seek(tick);
  }

  live(): void {
    this.past = undefined;
    this.isPlaying = false;
    this.tell();
  }

  play(): void {
    if (!this.past) this.seek(0);
    if (!this.past) return;
    this.isPlaying = true;
    let [last, owed] = [performance.now(), 1];
    const frame = (now: number) => {
      if (!this.isPlaying) return;
      owed += ((now - last) / 1000) * this.speed;
      last = now;
      if (owed >= 1) this.seek(this.tick + Math.floor(owed));
      owed %= 1;
      requestAnimationFrame(frame);
    };
    this.tell();
    requestAnimationFrame(frame);
  }

  pause(): void {
    this.isPlaying = false;
    this.tell();
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
}

/** One for the page: views come and go, and what was seen stays. */
export const moment = new Moment();

/** Render again whenever the cursor moves. */
export function useMoment(): Moment {
  useSyncExternalStore(moment.subscribe, moment.snapshot);
  return moment;
}

/** The cluster at the chosen moment, rendered again as the cursor moves; undefined: now. */
export function usePast(): Replay | undefined {
  useSyncExternalStore(moment.subscribe, () => (moment.past ? moment.snapshot() : -1));
  return moment.past;
}
