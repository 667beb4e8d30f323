/**
 * The cluster at any moment of a run: changes are applied forwards and taken back, so that a move costs its distance.
 * Each change costs some nanoseconds, so even a jump over a whole run of 100,000 changes fits into a frame; that is why
 * there are no keyframes.
 */
import { ATTEMPT, BOUND, CREATED, ENDED, NODE_CAME, NODE_WENT } from "./data";
import type { Run } from "./run";

export const [ABSENT, ACTIVE, BACKOFF, UNSCHEDULABLE, GATED, PERMIT, PLACED, OVER] = [0, 1, 2, 3, 4, 5, 6, 7];

/**
 * Where a failed attempt leaves a pod. The record has attempts, not the moves of the queue: a pod that an event made
 * active again is shown so at its next attempt.
 */
const AFTER: Record<string, number> = { unschedulable: UNSCHEDULABLE, error: BACKOFF, waiting: PERMIT, gated: GATED };

export class Replay {
  tick = 0;
  /** Requested amounts on each node, by resource. */
  readonly used: Float64Array[];
  readonly pods: Int32Array;
  readonly there: Uint8Array;
  readonly state: Uint8Array;
  /** Pods on each node, by their place. */
  readonly on: number[][];
  /** Pods in each state. */
  readonly counts = new Int32Array(8);
  nodesThere = 0;
  nodesUsed = 0;
  private readonly busy: Int32Array;
  private readonly gated: Set<number>;
  private readonly after: Uint8Array;
  private readonly hasPriorities: boolean;

  constructor(readonly run: Run) {
    const nodes = run.nodes.name.length;
    this.used = run.resources.map(() => new Float64Array(nodes));
    this.pods = new Int32Array(nodes);
    this.busy = new Int32Array(nodes);
    this.there = new Uint8Array(nodes);
    this.state = new Uint8Array(run.pods.key.length);
    this.on = Array.from({ length: nodes }, () => []);
    this.hasPriorities = run.shapes.some((shape) => shape.priority !== run.shapes[0].priority);
    this.counts[ABSENT] = run.pods.key.length;
    this.gated = new Set(run.pods.waiting.filter(([, reason]) => reason.startsWith("gated by ")).map(([pod]) => pod));
    this.after = Uint8Array.from(run.attempts.pod, (_, i) => AFTER[run.outcomeOf(i)] ?? ACTIVE);
  }

  /** Go to the moment after this many changes. */
  seek(tick: number): void {
    const to = Math.min(Math.max(tick, 0), this.run.changes.kind.length);
    while (this.tick < to) this.apply(this.tick++);
    while (this.tick > to) this.undo(--this.tick);
  }

  private apply(i: number): void {
    const { kind, what } = this.run.changes;
    const it = what[i];
    switch (kind[i]) {
      case NODE_CAME: this.stand(it, 1); break;
      case NODE_WENT: this.stand(it, 0); break;
      case CREATED: this.put(it, this.gated.has(it) ? GATED : ACTIVE); break;
      case BOUND: this.put(it, PLACED); this.place(it, 1); break;
      case ENDED:
        if (this.state[it] === PLACED) this.place(it, -1);
        this.put(it, OVER);
        break;
      case ATTEMPT: {
        const pod = this.run.attempts.pod[it];
        if (this.isWaiting(pod)) this.put(pod, this.after[it]);
      }
    }
  }

  private undo(i: number): void {
    const { kind, what } = this.run.changes;
    const it = what[i];
    switch (kind[i]) {
      case NODE_CAME: this.stand(it, 0); break;
      case NODE_WENT: this.stand(it, 1); break;
      case CREATED: this.put(it, ABSENT); break;
      case BOUND: this.place(it, -1); this.put(it, this.queuedBefore(it, i)); break;
      case ENDED: {
        const bound = this.run.boundTick[it];
        if (bound > 0 && bound <= i) {
          this.put(it, PLACED);
          this.place(it, 1);
        } else this.put(it, this.run.createdTick[it] <= i ? this.queuedBefore(it, i) : ABSENT);
        break;
      }
      case ATTEMPT: {
        const pod = this.run.attempts.pod[it];
        if (this.isWaiting(pod)) this.put(pod, this.queuedBefore(pod, i));
      }
    }
  }

  isWaiting(pod: number): boolean {
    return this.state[pod] > ABSENT && this.state[pod] < PLACED;
  }

  get waiting(): number {
    const { counts } = this;
    return counts[ACTIVE] + counts[BACKOFF] + counts[UNSCHEDULABLE] + counts[GATED] + counts[PERMIT];
  }

  /** The first pods of a state: the higher priority first, then the earlier one, as the queue sorts them. */
  first(state: number, most: number): number[] {
    const { shapes, pods } = this.run;
    const found: number[] = [];
    const enough = this.hasPriorities ? 5000 : most;
    for (let i = 0; i < this.state.length && found.length < enough; i++) if (this.state[i] === state) found.push(i);
    if (!this.hasPriorities) return found;
    const priority = (pod: number) => shapes[pods.shape[pod]].priority;
    return found.sort((a, b) => priority(b) - priority(a) || a - b).slice(0, most);
  }

  private queuedBefore(pod: number, i: number): number {
    let state = this.gated.has(pod) ? GATED : ACTIVE;
    for (const attempt of this.run.attemptsOf(pod)) {
      if (this.run.tickOf[attempt] > i) break;
      state = this.after[attempt];
    }
    return state;
  }

  private stand(node: number, there: number): void {
    this.nodesThere += there - this.there[node];
    this.there[node] = there;
  }

  private put(pod: number, state: number): void {
    this.counts[this.state[pod]] -= 1;
    this.state[pod] = state;
    this.counts[state] += 1;
  }

  private place(pod: number, sign: number): void {
    const { pods, shapes } = this.run;
    const node = pods.node[pod];
    if (node < 0) return;
    const { requests } = shapes[pods.shape[pod]];
    for (let r = 0; r < requests.length; r++) this.used[r][node] += sign * requests[r];
    this.pods[node] += sign;
    const on = this.on[node];
    if (sign > 0) on.push(pod);
    else on.splice(on.lastIndexOf(pod), 1);
    if (!pods.perNode[pod]) {
      const before = this.busy[node];
      this.busy[node] += sign;
      if (before === 0) this.nodesUsed += 1;
      else if (this.busy[node] === 0) this.nodesUsed -= 1;
    }
  }
}

/** Numbers of the whole cluster along a run: at the start, and after every so many changes. */
export interface Series {
  ticks: number[];
  waiting: number[];
  placed: number[];
}

export function series(run: Run, points: number): Series {
  const replay = new Replay(run);
  const all = run.changes.kind.length;
  const every = Math.max(1, Math.ceil((all - run.start) / points));
  const found: Series = { ticks: [], waiting: [], placed: [] };
  for (let tick = run.start; ; tick = Math.min(all, tick + every)) {
    replay.seek(tick);
    found.ticks.push(tick);
    found.waiting.push(replay.waiting);
    found.placed.push(replay.counts[PLACED]);
    if (tick >= all) return found;
  }
}
