/** What follows from the columns: who is on which node at a step, and how full everything is. */
import { Replay } from "./replay";
import type { Run } from "./run";

/** Numbers of the cluster before the first step and at the end of each step. */
export interface Levels {
  allocation: number[][];
  waiting: number[];
  nodesUsed: number[];
  /** Pods preempted in each step; none before the first one. */
  preempted: number[];
}

const levelsOf = new WeakMap<Run, Levels>();

export function levels(run: Run): Levels {
  const known = levelsOf.get(run);
  if (known) return known;
  const replay = new Replay(run);
  const found: Levels = { allocation: run.resources.map(() => []), waiting: [], nodesUsed: [], preempted: [0] };
  for (const tick of [run.start, ...run.stepEnds]) {
    replay.seek(tick);
    run.resources.forEach((_, r) => found.allocation[r].push(allocated(replay, r)));
    found.waiting.push(replay.waiting);
    found.nodesUsed.push(replay.nodesUsed);
  }
  run.steps.forEach(() => found.preempted.push(0));
  for (const at of run.pods.preempted) if (at >= 0) found.preempted[at + 1] += 1;
  levelsOf.set(run, found);
  return found;
}

/** Share of a resource of the whole cluster that is requested, in percent. */
export function allocated(replay: Replay, resource: number): number {
  let [used, total] = [0, 0];
  const offered = replay.run.nodes.allocatable[resource];
  for (let node = 0; node < offered.length; node++) {
    if (!replay.there[node]) continue;
    used += replay.used[resource][node];
    total += offered[node];
  }
  return total > 0 ? (100 * used) / total : 0;
}

const victimsOf = new WeakMap<Run, Map<number, number[]>>();

/** The places of the pods that each pod displaced, by its own place. */
export function victims(run: Run): Map<number, number[]> {
  const known = victimsOf.get(run);
  if (known) return known;
  const found = new Map<number, number[]>();
  run.pods.preemptor.forEach((by, i) => {
    if (by >= 0) found.set(by, [...(found.get(by) ?? []), i]);
  });
  victimsOf.set(run, found);
  return found;
}

const namesOf = new WeakMap<Run, Map<string, number[]>>();

/** The places of the pods that had a name in turn. */
export function podsNamed(run: Run, key: string): number[] {
  let names = namesOf.get(run);
  if (!names) {
    names = new Map<string, number[]>();
    for (let i = 0; i < run.pods.key.length; i++) {
      const same = names.get(run.pods.key[i]);
      if (same) same.push(i);
      else names.set(run.pods.key[i], [i]);
    }
    namesOf.set(run, names);
  }
  return names.get(key) ?? [];
}

/** The place of the pod that an address names: `life` counts the pods of a name from 1, and is the last one without. */
export function podOf(run: Run, key: string, life = ""): number {
  return podsNamed(run, key).at(life ? Number(life) - 1 : -1) ?? -1;
}

/** How an address names a pod: it has a `life` where another pod had the same name. */
export function addressOf(run: Run, pod: number): { pod: string; life: string } {
  const key = run.pods.key[pod];
  const named = podsNamed(run, key);
  return { pod: key, life: named.length > 1 ? String(named.indexOf(pod) + 1) : "" };
}

/** Which pods a filter shows. */
export function shows(run: Run, show: string): (pod: number) => boolean {
  const last = run.steps.length - 1;
  const { bound, end, preempted, moved, preemptor } = run.pods;
  if (show === "pending") return (i) => bound[i] < 0 && (end[i] < 0 || end[i] > last);
  if (show === "preempted") return (i) => preempted[i] >= 0;
  if (show === "moved") return (i) => moved[i];
  if (show === "preemptors") {
    const preemptors = new Set(preemptor);
    return (i) => preemptors.has(i);
  }
  return () => true;
}

/**
 * Where each step begins on an axis as long as there are steps, and where the last one ends. Steps have the length of
 * their virtual time, and at least a tenth of the mean; where no time passes they are all of the same length.
 */
export function axis(run: Run): Float64Array {
  const count = run.steps.length;
  const starts = Float64Array.from({ length: count + 1 }, (_, i) => i);
  const times = run.steps.map((step) => step.time);
  const whole = (times[count - 1] ?? 0) - (times[0] ?? 0);
  if (count < 2 || whole <= 0) return starts;
  const lengths = times.slice(1).map((time, i) => Math.max(time - times[i], whole / (count - 1) / 10));
  lengths.push([...lengths].sort((a, b) => a - b)[Math.floor(lengths.length / 2)]);
  const sum = lengths.reduce((total, length) => total + length, 0);
  lengths.forEach((length, i) => (starts[i + 1] = starts[i] + (length * count) / sum));
  return starts;
}

/** The state before the first step, as axes and the bar name it. */
export function beginning(run: Run): string {
  return run.start > 0 ? "snapshot" : "before";
}

/** Kept: toLocaleString looks the language up in every call, which took a fifth of each frame of a scrub. */
const SEPARATED = new Intl.NumberFormat("en-US");

/** A whole number with separators. */
export function whole(number: number): string {
  return SEPARATED.format(number);
}

/** `1 pod`, `2 pods`; for nouns that get an s. */
export function counted(number: number, noun: string): string {
  return `${whole(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** A span of virtual time, in the largest unit that fits. */
export function duration(microseconds: number): string {
  const seconds = microseconds / 1e6;
  if (seconds < 120) return `${trim(seconds)} s`;
  if (seconds < 7200) return `${trim(seconds / 60)} min`;
  return seconds < 172800 ? `${trim(seconds / 3600)} h` : `${trim(seconds / 86400)} d`;
}

/** Nodes in groups of equal label value, groups by name; without a label there is one group. */
export function groupNodes(run: { nodes: Pick<Run["nodes"], "name" | "labels"> }, label: string): { name: string; rows: number[] }[] {
  const groups = new Map<string, number[]>();
  run.nodes.name.forEach((_, i) => {
    const value = label ? (run.nodes.labels[i][label] ?? "(none)") : "";
    const rows = groups.get(value);
    if (rows) rows.push(i);
    else groups.set(value, [i]);
  });
  return [...groups].map(([name, rows]) => ({ name, rows })).sort((a, b) => a.name.localeCompare(b.name));
}

/** Label keys that are worth grouping by: more than one value, and fewer values than half the nodes. */
export function groupingLabels(run: { nodes: Pick<Run["nodes"], "name" | "labels"> }): string[] {
  const values = new Map<string, Set<string>>();
  for (const labels of run.nodes.labels) {
    for (const [key, value] of Object.entries(labels)) {
      const seen = values.get(key) ?? new Set();
      values.set(key, seen.add(value));
    }
  }
  const most = Math.max(2, run.nodes.name.length / 2);
  return [...values].filter(([, seen]) => seen.size > 1 && seen.size <= most).map(([key]) => key).sort();
}

/** Bytes as Gi, thousandths of a core as cores. */
export function amount(resource: string, value: number): string {
  if (resource === "cpu") return `${trim(value / 1000)}`;
  if (resource === "memory" || resource.includes("storage") || resource.startsWith("hugepages")) {
    const units = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];
    let unit = 0;
    while (Math.abs(value) >= 1024 && unit < units.length - 1) {
      value /= 1024;
      unit += 1;
    }
    return `${trim(value)}${units[unit]}`;
  }
  return trim(value);
}

function trim(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 1);
}
