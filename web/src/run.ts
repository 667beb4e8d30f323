/** A run that is open: its columns, and where its attempts and steps are among the changes of the cluster. */
import { ATTEMPT, BOUND, CREATED, type Attempts, type Changes, type Lanes, type Nodes, type Pods, type Shape, type Summary } from "./data";
import type { RunSource } from "./source";
import { inOrder } from "./names";

export interface Run extends Summary {
  source: RunSource;
  nodes: Nodes;
  pods: Pods;
  shapes: Shape[];
  changes: Changes;
  attempts: Attempts;
  budgets: Map<number, string[]>;
  /** Reasons of the pods that wait at the end. */
  reasons: Map<number, string>;
  outcomeOf(attempt: number): string;
  messageOf(attempt: number): string;
  rejectionsOf(attempt: number): [string, number][];
  /** How many changes have happened when an attempt is over; the same for binds and creations, by pod. */
  tickOf: Int32Array;
  boundTick: Int32Array;
  createdTick: Int32Array;
  /** How many changes have happened at the end of each step. */
  stepEnds: Int32Array;
  /** Changes before the first step: what a snapshot brought. */
  start: number;
  /** The attempts at each pod, in order. */
  attemptsOf(pod: number): number[];
  lanes(): Promise<Lanes>;
}

function flattened<T extends object>(columns: T): T {
  // Int32Array from a server and number[] from a page answer alike, except where methods of arrays are used.
  return Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [name, ArrayBuffer.isView(value) ? Array.from(value as Int32Array) : value]),
  ) as T;
}

export async function openRun(source: RunSource): Promise<Run> {
  const [summary, cluster, tried] = await Promise.all([source.summary(), source.cluster(), source.attempts()]);
  const { shapes, changes } = cluster;
  const nodes = { ...flattened(cluster.nodes), allocatable: cluster.nodes.allocatable.map((each) => Array.from(each)) };
  const pods = flattened(cluster.pods);
  const attempts = flattened(tried.attempts);
  const { lists } = tried;
  const ticks = changes.kind.length;
  const tickOf = new Int32Array(attempts.pod.length);
  const boundTick = new Int32Array(pods.key.length).fill(-1);
  const createdTick = new Int32Array(pods.key.length).fill(-1);
  const stepEnds = new Int32Array(summary.steps.length).fill(-1);
  let start = 0;
  for (let i = 0; i < ticks; i++) {
    const kind = changes.kind[i];
    if (kind === ATTEMPT) tickOf[changes.what[i]] = i + 1;
    else if (kind === BOUND) boundTick[changes.what[i]] = i + 1;
    else if (kind === CREATED) createdTick[changes.what[i]] = i + 1;
    if (changes.step[i] >= 0) stepEnds[changes.step[i]] = i + 1;
    else start = i + 1;
  }
  for (let i = 0; i < stepEnds.length; i++) if (stepEnds[i] < 0) stepEnds[i] = i ? stepEnds[i - 1] : start;
  const byPod: number[][] = [];
  attempts.pod.forEach((pod, i) => (byPod[pod] ??= []).push(i));
  let lanes: Promise<Lanes> | undefined;
  return {
    ...pick(summary),
    source, nodes, pods, shapes, changes, attempts,
    budgets: new Map(cluster.budgets),
    reasons: new Map(pods.waiting),
    outcomeOf: (i) => lists[attempts.outcome[i]] as string,
    messageOf: (i) => lists[attempts.message[i]] as string,
    rejectionsOf: (i) => lists[attempts.reasons[i]] as [string, number][],
    tickOf, boundTick, createdTick, stepEnds, start,
    attemptsOf: (pod) => byPod[pod] ?? [],
    lanes: () => (lanes ??= source.lanes()),
  };
}

/** The summary alone: a page has everything else in the same object. */
function pick({ name, title, phase, message, version, resources, omitted, headline, steps, phases, volcano, workloads }: Summary): Summary {
  return { name: inOrder(name), title: inOrder(title), phase, message: inOrder(message), version, resources, omitted, headline, steps, phases, volcano, workloads };
}
