/** What a page is made of: columns written by `seatrial.web`, gzipped and inlined as base64. */
import type { Volcano } from "./volcano";

export interface Nodes {
  name: string[];
  labels: Record<string, string>[];
  /** One list a resource, in the order of `resources`. */
  allocatable: number[][];
  /** Index of the step at which the node came; -1 in `to`: it stayed. */
  from: number[];
  to: number[];
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

export interface Attempt {
  pod: number;
  step: number;
  minor: number;
  outcome: string;
  node: string;
  message: string;
  visited: number;
  feasible: number;
  reasons: [string, number][];
  best: [string, number][];
  victims: string[];
  preFilter: string;
  cells?: Cells;
}

/** The matrix of one attempt: nodes searched, and scores of those that passed, plugin after plugin. */
export interface Cells {
  nodes: string[];
  verdicts: number[];
  feasible: string[];
  plugins: string[];
  weights: number[];
  raw: number[][];
  normalized: number[][];
  total: number[];
}

/** What recurs from attempt to attempt is written as the number of one of `lists`. */
interface NumberedAttempt {
  message: number;
  reasons: number;
  cells?: NumberedCells;
}

interface NumberedCells {
  nodes: number;
  verdicts: number;
  feasible: number;
  plugins: number;
  weights: number;
  raw: number[];
  normalized: number[];
  total: number;
}

export interface Run {
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
  nodes: Nodes;
  pods: Pods;
  shapes: Shape[];
  lanes: string[];
  verbs: string[];
  entries: Entries;
  verdicts: string[][];
  lists: unknown[];
  attempts: Attempt[];
  volcano: Volcano | null;
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

export interface Page {
  kind: "report" | "compare";
  runs: Run[];
  measures: MeasureRow[];
  differences: Difference[];
  /** One sentence for each run but the first. */
  verdict: string[];
  spread: { measure: string; run: number; min: number; median: number; max: number }[];
}

/** Decode the inlined page. */
export async function loadPage(): Promise<Page> {
  const text = document.getElementById("data")?.textContent?.trim() ?? "";
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const page = (await new Response(stream).json()) as Page;
  page.runs.forEach(fillAttempts);
  return page;
}

/** Put what attempts refer to in the place of its number; they share it. */
function fillAttempts({ lists, attempts }: Run): void {
  const numbers = (place: number) => lists[place] as number[];
  const names = (place: number) => lists[place] as string[];
  for (const attempt of attempts) {
    const { message, reasons, cells } = attempt as unknown as NumberedAttempt;
    attempt.message = lists[message] as string;
    attempt.reasons = lists[reasons] as [string, number][];
    if (!cells) continue;
    attempt.cells = {
      nodes: names(cells.nodes),
      verdicts: numbers(cells.verdicts),
      feasible: names(cells.feasible),
      plugins: names(cells.plugins),
      weights: numbers(cells.weights),
      raw: cells.raw.map(numbers),
      normalized: cells.normalized.map(numbers),
      total: numbers(cells.total),
    };
  }
}
