/** What a run is made of: columns written by `seatrial.web`, embedded in a page or sent over HTTP. */
import type { Volcano } from "./volcano";

export interface Nodes {
  name: string[];
  labels: Record<string, string>[];
  /** One list a resource, in the order of `resources`. */
  allocatable: number[][];
  /** Index of the step at which the node came; -1 in `to`: it stayed. */
  from: number[];
  to: number[];
  taints: string[][];
}

export interface Pods {
  key: string[];
  owner: string[];
  shape: number[];
  created: number[];
  bound: number[];
  node: number[];
  end: number[];
  preempted: number[];
  /** Name of the pod that preempted it, and its place among the pods; -1: none of them. */
  by: (string | null)[];
  preemptor: number[];
  attempts: number[];
  waited: number[];
  /** Whether it is of a DaemonSet or a mirror pod: it keeps no node in use. */
  perNode: boolean[];
  /** Whether the pod, or an earlier one of its name, was on another node before. */
  moved: boolean[];
  /** Whether a snapshot brought it. */
  brought: boolean[];
  /** Pods without a node at the end, each with the reason. */
  waiting: [number, string][];
}

export interface Shape {
  requests: number[];
  priority: number;
}

export interface Entries {
  lane: number[];
  step: number[];
  minor: number[];
  verb: number[];
  what: string[];
}

export interface Lanes {
  lanes: string[];
  verbs: string[];
  entries: Entries;
}

/** What changes the cluster, in order: see `seatrial/web/changes.py`. */
export interface Changes {
  kind: ArrayLike<number>;
  what: ArrayLike<number>;
  step: ArrayLike<number>;
  minor: ArrayLike<number>;
  time: ArrayLike<number>;
}

export const [NODE_CAME, NODE_WENT, CREATED, BOUND, ENDED, ATTEMPT] = [0, 1, 2, 3, 4, 5];

/** Attempts as columns; `outcome`, `message` and `reasons` are places in the lists of the run. */
export interface Attempts {
  pod: number[];
  step: number[];
  minor: number[];
  outcome: number[];
  node: number[];
  nominated: number[];
  message: number[];
  visited: number[];
  feasible: number[];
  reasons: number[];
  victims: number[];
}

/** What an attempt tells beyond its row. */
export interface Detail {
  best?: [string, number][];
  victims?: string[];
  preFilter?: string;
  /** [plugin, code, reason…] of each PostFilter plugin. */
  postFilter?: string[][];
  extenders?: Record<string, [string, string][]>;
  points?: Record<string, [string, string][]>;
  cells?: Cells;
}

/** The matrix of one attempt: nodes searched, and scores of those that passed, plugin after plugin. */
export interface Cells {
  nodes: string[];
  filters: string[];
  /** 0: passed; else 1 + the place in `said`. */
  verdicts: number[];
  /** [plugin, code, reason…] */
  said: string[][];
  feasible: string[];
  plugins: string[];
  weights: number[];
  raw: number[][];
  normalized: number[][];
  total: number[];
}

export interface Summary {
  name: string;
  title: string;
  phase: string;
  message: string;
  version: string;
  resources: string[];
  omitted: string[];
  /** `show` names the filter of pods that the number counts. */
  headline: { label: string; value: string; hint: string; show: Show }[];
  steps: { label: string; minors: number; time: number }[];
  /** What the first minor step of a step is called, and each further one. */
  phases: [string, string];
  volcano: Volcano | null;
  /** What became of the workloads of a snapshot, those first that something happened to; null without one. */
  workloads: { total: number; rows: WorkloadRow[] } | null;
}

export interface WorkloadRow {
  namespace: string;
  kind: string;
  name: string;
  wanted: number;
  ready_start: number;
  /** null: it was not there at the start. */
  ready_min: number | null;
  /** Seconds of virtual time; null: it never fell. */
  ready_min_at: number | null;
  ready_end: number;
  moved: number;
  pending: number;
  lost: number;
  why: string | null;
}

export interface Cluster {
  nodes: Nodes;
  pods: Pods;
  shapes: Shape[];
  changes: Changes;
  /** Preempted pods, each with the PodDisruptionBudgets that select it. */
  budgets: [number, string[]][];
}

export type Show = "" | "pending" | "preempted" | "preemptors" | "moved";

export interface MeasureRow {
  measure: string;
  unit: string;
  values: (number | null)[];
  better: "higher" | "lower" | "";
}

export interface Difference {
  pod: string;
  /** Which of the pods that had this name in turn, from 0. */
  number: number;
  nodes: (string | null)[];
  reason: string;
}

export interface Comparison {
  measures: MeasureRow[];
  differences: Difference[];
  /** One sentence for each run but the first. */
  verdict: string[];
  spread: { measure: string; run: number; min: number; median: number; max: number }[];
  /** Nodes without a pod that keeps them in use, by run and pool; only where the first run is the cluster as it is. */
  switchedOff: Record<string, FreedPool[]>;
}

export interface FreedPool {
  pool: string;
  /** In use today, and not at the end of the run. */
  nodes: string[];
  /** In use neither today nor at the end. */
  idleToday: string[];
  /** Not in use today, and in use at the end. */
  needed: string[];
  /** Cores of `nodes` without those of `needed`; memory, GPUs and price likewise. */
  cpu: number;
  memory: number;
  gpus: number;
  /** null: not known. */
  pricePerHour: number | null;
}
