/** What follows from the columns: who is on which node at a step, and how full everything is. */
import type { Run } from "./data";

/** Whether something that came at `from` and left at `to` (-1: never) is there at the end of `step`. */
export function isThere(from: number, to: number, step: number): boolean {
  return from >= 0 && from <= step && (to < 0 || to > step);
}

/** Requested amount of one resource on each node at the end of a step. */
export function usage(run: Run, resource: number, step: number): Float64Array {
  const used = new Float64Array(run.nodes.name.length);
  const { bound, end, node, shape } = run.pods;
  for (let i = 0; i < bound.length; i++) {
    if (node[i] >= 0 && isThere(bound[i], end[i], step)) {
      used[node[i]] += run.shapes[shape[i]].requests[resource];
    }
  }
  return used;
}

/** Share of each node that is requested; NaN where the node is not there or has none of it. */
export function fractions(run: Run, resource: number, step: number): Float64Array {
  const used = usage(run, resource, step);
  const total = run.nodes.allocatable[resource];
  return used.map((value, i) =>
    isThere(run.nodes.from[i], run.nodes.to[i], step) && total[i] > 0 ? value / total[i] : NaN,
  );
}

/** Running sums: the amount that is there at the end of each step. */
function cumulative(steps: number, changes: Iterable<[number, number]>): Float64Array {
  const sums = new Float64Array(steps + 1);
  for (const [at, amount] of changes) if (at >= 0) sums[Math.min(at, steps)] += amount;
  for (let i = 1; i < sums.length; i++) sums[i] += sums[i - 1];
  return sums.subarray(0, steps);
}

/** Allocation of the whole cluster, one resource, at the end of each step, in percent. */
export function allocation(run: Run, resource: number): number[] {
  const steps = run.steps.length;
  const { bound, end, node, shape } = run.pods;
  const used = cumulative(
    steps,
    bound.flatMap((at, i): [number, number][] => {
      if (node[i] < 0 || at < 0) return [];
      const amount = run.shapes[shape[i]].requests[resource];
      return [[at, amount], [end[i], -amount]];
    }),
  );
  const total = cumulative(
    steps,
    run.nodes.from.flatMap((at, i): [number, number][] => [
      [at, run.nodes.allocatable[resource][i]],
      [run.nodes.to[i], -run.nodes.allocatable[resource][i]],
    ]),
  );
  return Array.from(used, (value, i) => (total[i] > 0 ? (100 * value) / total[i] : 0));
}

/** Pods that wait at the end of each step. */
export function pending(run: Run): number[] {
  const { created, bound, end } = run.pods;
  const changes = created.flatMap((at, i): [number, number][] => {
    const leaves = bound[i] >= 0 ? bound[i] : end[i];
    return [[at, 1], [leaves, -1]];
  });
  return Array.from(cumulative(run.steps.length, changes));
}

/** Pods preempted in each step. */
export function preemptions(run: Run): number[] {
  const counts = new Array<number>(run.steps.length).fill(0);
  for (const at of run.pods.preempted) if (at >= 0) counts[at] += 1;
  return counts;
}

/** Nodes in use at the end of each step: with a pod that would have to move before the node is switched off. */
export function nodesInUse(run: Run): number[] {
  return run.steps.map((_, step) => {
    const used = new Set<number>();
    run.pods.bound.forEach((at, i) => {
      if (run.pods.node[i] >= 0 && !run.pods.perNode[i] && isThere(at, run.pods.end[i], step)) used.add(run.pods.node[i]);
    });
    return used.size;
  });
}

/** The places of the pods that each pod displaced, by its own place. */
export function victims(run: Run): Map<number, number[]> {
  const found = new Map<number, number[]>();
  run.pods.preemptor.forEach((by, i) => {
    if (by >= 0) found.set(by, [...(found.get(by) ?? []), i]);
  });
  return found;
}

/** The places of the pods that had a name in turn. */
export function podsNamed(run: Run, key: string): number[] {
  return run.pods.key.flatMap((each, i) => (each === key ? [i] : []));
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

/** The step that an address names by its number; the last one without. */
export function stepOf(run: Run, text: string | undefined): number {
  const found = run.steps.findIndex((step) => step.label === text);
  return found >= 0 ? found : Math.max(0, run.steps.length - 1);
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

/** `1 pod`, `2 pods`; for nouns that get an s. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** A span of virtual time, in the largest unit that fits. */
export function duration(microseconds: number): string {
  const seconds = microseconds / 1e6;
  if (seconds < 120) return `${trim(seconds)} s`;
  if (seconds < 7200) return `${trim(seconds / 60)} min`;
  return seconds < 172800 ? `${trim(seconds / 3600)} h` : `${trim(seconds / 86400)} d`;
}

/** Nodes in groups of equal label value, groups by name; without a label there is one group. */
export function groupNodes(run: Run, label: string): { name: string; rows: number[] }[] {
  const groups = new Map<string, number[]>();
  run.nodes.name.forEach((_, i) => {
    const value = label ? (run.nodes.labels[i][label] ?? "(none)") : "all nodes";
    const rows = groups.get(value);
    if (rows) rows.push(i);
    else groups.set(value, [i]);
  });
  return [...groups].map(([name, rows]) => ({ name, rows })).sort((a, b) => a.name.localeCompare(b.name));
}

/** Label keys that are worth grouping by: more than one value, and fewer values than half the nodes. */
export function groupingLabels(run: Run): string[] {
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
