/**
 * What the page has seen of the cluster, change by change, so that the live view can be scrubbed back. Objects that were
 * there when the page was opened tell by their timestamps when they came; what was gone by then is not known.
 */
import { BOUND, CREATED, ENDED, NODE_CAME, NODE_WENT } from "../data";
import { Replay } from "../replay";
import type { Run } from "../run";
import type { KubeObject } from "./api";
import { isOver, nodeColumns, requestsOf } from "./cluster";
import type { Feed } from "./feed";

/** Changes that are kept; beyond them the history begins again with what is there. */
const MOST = 200_000;

interface SeenPod {
  place: number;
  uid: string;
  isBound: boolean;
  isOver: boolean;
}

interface Change {
  kind: number;
  what: number;
  time: number;
}

interface Condition {
  type: string;
  status: string;
  lastTransitionTime?: string;
}

function timeOf(text: string | undefined, otherwise: number): number {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? otherwise : time;
}

export class History {
  changes: Change[] = [];
  /** How many pods wait after each change. */
  waiting: number[] = [];
  /** When the page began to look; what is older is told by the objects. */
  opened = 0;
  private nodes: KubeObject[] = [];
  private readonly nodePlaces = new Map<string, { place: number; isThere: boolean }>();
  private pods: { key: string; node: number; requests: Record<string, number>; priority: number }[] = [];
  private readonly podPlaces = new Map<string, SeenPod>();
  private waits = 0;

  /** Compare what both feeds have with what was seen last. */
  take(nodes: Feed, pods: Feed, now: number): void {
    if (nodes.state === "loading" || pods.state === "loading") return;
    if (this.changes.length > MOST) this.forget();
    if (!this.opened) this.opened = now;
    const found = [...this.changedNodes(nodes, now), ...this.changedPods(pods, now)];
    const last = this.changes.at(-1)?.time ?? -Infinity;
    for (const change of found.sort((a, b) => a.time - b.time || a.kind - b.kind)) {
      if (change.kind === CREATED) this.waits += 1;
      else if (change.kind === BOUND) this.waits -= 1;
      else if (change.kind === ENDED && this.pods[change.what].node < 0) this.waits -= 1;
      this.changes.push({ ...change, time: Math.max(last, change.time) });
      this.waiting.push(this.waits);
    }
  }

  private forget(): void {
    this.changes = [];
    this.waiting = [];
    this.nodes = [];
    this.pods = [];
    this.nodePlaces.clear();
    this.podPlaces.clear();
    [this.waits, this.opened] = [0, 0];
  }

  private *changedNodes({ rows }: Feed, now: number): Generator<Change> {
    for (const { object } of rows.values()) {
      const { name, creationTimestamp } = object.metadata;
      const seen = this.nodeOf(name);
      this.nodes[seen.place] = object;
      if (!seen.isThere) yield { kind: NODE_CAME, what: seen.place, time: timeOf(creationTimestamp, now) };
      seen.isThere = true;
    }
    for (const [name, seen] of this.nodePlaces) {
      if (!seen.isThere || rows.has(name)) continue;
      seen.isThere = false;
      yield { kind: NODE_WENT, what: seen.place, time: now };
    }
  }

  /** Where a node is in the columns; one that only a pod has named so far has a name alone. */
  private nodeOf(name: string): { place: number; isThere: boolean } {
    let seen = this.nodePlaces.get(name);
    if (!seen) this.nodePlaces.set(name, (seen = { place: this.nodes.push({ metadata: { name } }) - 1, isThere: false }));
    return seen;
  }

  private *changedPods({ rows }: Feed, now: number): Generator<Change> {
    for (const [key, { object }] of rows) {
      let seen = this.podPlaces.get(key);
      // Another pod of the same name.
      if (seen && seen.uid !== object.metadata.uid) {
        yield* this.ended(seen, now);
        seen = undefined;
      }
      if (!seen) {
        seen = { place: this.pods.length, uid: object.metadata.uid ?? "", isBound: false, isOver: false };
        this.podPlaces.set(key, seen);
        this.pods.push({ key, node: -1, requests: requestsOf(object), priority: (object.spec?.priority as number) ?? 0 });
        yield { kind: CREATED, what: seen.place, time: timeOf(object.metadata.creationTimestamp, now) };
      }
      yield* this.moved(seen, object, now);
    }
    for (const [key, seen] of this.podPlaces) {
      if (rows.has(key)) continue;
      this.podPlaces.delete(key);
      yield* this.ended(seen, now);
    }
  }

  /** A pod that has got its node, or is over. */
  private *moved(seen: SeenPod, pod: KubeObject, now: number): Generator<Change> {
    const conditions = (pod.status?.conditions ?? []) as Condition[];
    const node = pod.spec?.nodeName as string | undefined;
    if (!seen.isBound && node) {
      seen.isBound = true;
      this.pods[seen.place].node = this.nodeOf(node).place;
      const placed = conditions.find((each) => each.type === "PodScheduled" && each.status === "True");
      yield { kind: BOUND, what: seen.place, time: timeOf(placed?.lastTransitionTime ?? pod.metadata.creationTimestamp, now) };
    }
    if (isOver(pod)) yield* this.ended(seen, conditions.reduce((time, each) => Math.max(time, timeOf(each.lastTransitionTime, 0)), 0) || now);
  }

  private *ended(seen: SeenPod, time: number): Generator<Change> {
    if (seen.isOver) return;
    seen.isOver = true;
    yield { kind: ENDED, what: seen.place, time };
  }

  /** The changes so far as a run that can be sought. */
  freeze(): Replay {
    const { changes } = this;
    const columns = nodeColumns(this.nodes);
    const ticks = (kind: number) => {
      const found = new Int32Array(this.pods.length).fill(-1);
      changes.forEach((change, i) => change.kind === kind && (found[change.what] = i + 1));
      return found;
    };
    const run = {
      ...columns,
      shapes: this.pods.map(({ requests, priority }) => ({ requests: columns.resources.map((name) => requests[name] ?? 0), priority })),
      pods: {
        key: this.pods.map(({ key }) => key), node: this.pods.map(({ node }) => node), shape: this.pods.map((_, i) => i),
        perNode: this.pods.map(() => false), waiting: [],
      },
      changes: { kind: changes.map(({ kind }) => kind), what: changes.map(({ what }) => what) },
      attempts: { pod: [] }, outcomeOf: () => "", attemptsOf: () => [], tickOf: new Int32Array(0),
      createdTick: ticks(CREATED), boundTick: ticks(BOUND),
    } as unknown as Run;
    return new Replay(run);
  }
}
