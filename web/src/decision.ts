/** What follows from the record of one decision: the funnel, the rows of the matrix, and what a node lacks. */
import type { Cells, Detail } from "./data";
import { amount, counted, whole } from "./derive";
import { rowsOf } from "./nodemap";
import { PLACED, type Replay } from "./replay";
import type { Run } from "./run";

export interface Row {
  node: string;
  /** Place among the nodes that passed; -1: rejected. */
  column: number;
  verdict: number;
  total: number;
}

export interface Stage {
  name: string;
  left: number;
  lost: number;
  reason: string;
  /** The filter whose rejections a click shows. */
  plugin?: string;
}

/** Every node that was looked at: the winner first, then by total, then the rejected ones. */
export function rowsOfMatrix(cells: Cells, winner: string): Row[] {
  const passed = new Map(cells.feasible.map((node, i) => [node, i]));
  const rows = cells.nodes.map((node, i): Row => {
    const column = passed.get(node) ?? -1;
    return { node, column, verdict: cells.verdicts[i] ?? 0, total: column < 0 ? -Infinity : (cells.total[column] ?? 0) };
  });
  // An extender or a nominated pod may leave a node that no filter visited.
  const visited = new Set(cells.nodes);
  for (const [node, column] of passed) {
    if (!visited.has(node)) rows.push({ node, column, verdict: 0, total: cells.total[column] ?? 0 });
  }
  return rows.sort((a, b) => Number(b.node === winner) - Number(a.node === winner) || b.total - a.total || a.verdict - b.verdict);
}

export function pluginOf(cells: Cells, verdict: number): string {
  return cells.said[verdict - 1]?.[0] ?? "";
}

export function reasonOf(cells: Cells, verdict: number): string {
  const [, code, ...reasons] = cells.said[verdict - 1] ?? ["", ""];
  return reasons.join(", ") || code;
}

/** How many nodes each filter leaves; filters that reject none are one stage. */
export function funnel(run: Run, attempt: number, detail: Detail | undefined, nodes: number): Stage[] {
  const { visited, feasible } = run.attempts;
  const stages: Stage[] = [
    { name: "all nodes", left: Math.max(nodes, visited[attempt]), lost: 0, reason: "" },
    { name: "searched", left: visited[attempt], lost: Math.max(0, nodes - visited[attempt]), reason: detail?.preFilter ?? "" },
  ];
  const { cells } = detail ?? {};
  if (cells) {
    const lost = new Map<string, Map<string, number>>();
    const counts = new Map<number, number>();
    for (const verdict of cells.verdicts) if (verdict) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    for (const [verdict, count] of counts) {
      const [plugin, reason] = [pluginOf(cells, verdict), reasonOf(cells, verdict)];
      const reasons = lost.get(plugin) ?? new Map<string, number>();
      lost.set(plugin, reasons.set(reason, (reasons.get(reason) ?? 0) + count));
    }
    const order = [...lost.keys()].sort((a, b) => cells.filters.indexOf(a) - cells.filters.indexOf(b));
    let left = visited[attempt];
    for (const plugin of order) {
      const reasons = [...lost.get(plugin)!].sort((a, b) => b[1] - a[1]);
      const count = reasons.reduce((sum, [, number]) => sum + number, 0);
      left -= count;
      stages.push({ name: plugin, left, lost: count, reason: reasons.map(([reason, number]) => `${whole(number)} ${reason}`).join("; "), plugin });
    }
    const silent = cells.filters.filter((plugin) => !lost.has(plugin)).length;
    if (silent) stages.push({ name: counted(silent, order.length ? "other filter" : "filter"), left, lost: 0, reason: "rejected no node" });
  } else {
    for (const [reason, count] of run.rejectionsOf(attempt)) stages.push({ name: "rejected", left: visited[attempt] - count, lost: count, reason });
  }
  stages.push({ name: "feasible", left: feasible[attempt], lost: 0, reason: "" });
  return stages;
}

/** What a pod found on a node when it was tried: its victims were still there, and it was not. */
function usedBefore(replay: Replay, row: number, resource: number, pod: number, victims: number[]): number {
  const { pods, shapes } = replay.run;
  const request = (each: number) => shapes[pods.shape[each]].requests[resource];
  let used = replay.used[resource][row];
  if (pods.node[pod] === row && replay.state[pod] === PLACED) used -= request(pod);
  for (const victim of victims) if (pods.node[victim] === row && replay.state[victim] !== PLACED) used += request(victim);
  return used;
}

/** What a resource lacks on a node for the pod, as it found the node; at most 0: it has room. */
function shortage(replay: Replay, pod: number, node: number, resource: number, victims: number[]): number {
  const { run } = replay;
  return run.shapes[run.pods.shape[pod]].requests[resource] - (run.nodes.allocatable[resource][node] - usedBefore(replay, node, resource, pod, victims));
}

/** Whether the reasons of a filter name a resource. */
function isNamed(resource: string, reasons: string): boolean {
  return reasons.includes(`Insufficient ${resource}`) || (resource === "pods" && reasons.includes("Too many pods"));
}

/** Of the nodes that lack resources alone, the one that lacks the smallest share of what the pod asks for. */
export function nearest(replay: Replay, attempt: number, cells: Cells, rows: Row[], victims: number[]): Row | undefined {
  const { run } = replay;
  const pod = run.attempts.pod[attempt];
  const { requests } = run.shapes[run.pods.shape[pod]];
  const places = rowsOf(run);
  let [best, least]: [Row | undefined, number] = [undefined, Infinity];
  // Thousands of nodes have a few different verdicts, and this is done for each frame of a scrub.
  const lacking = new Map<number, number[]>();
  for (const row of rows) {
    if (row.column >= 0) continue;
    let named = lacking.get(row.verdict);
    if (!named) {
      const reasons = reasonOf(cells, row.verdict);
      named = run.resources.flatMap((resource, r) => (isNamed(resource, reasons) ? [r] : []));
      lacking.set(row.verdict, named);
    }
    const node = named.length ? places.get(row.node) : undefined;
    if (node === undefined) continue;
    let lack = 0;
    for (const r of named) lack = Math.max(lack, shortage(replay, pod, node, r, victims) / Math.max(1, requests[r]));
    if (lack < least) {
      best = row;
      least = lack;
    }
  }
  return best;
}

/** What would have to change for a node to take the pod. */
export function missing(replay: Replay, attempt: number, cells: Cells, row: Row, winner: Row | undefined, victims: number[]): string[] {
  const { run } = replay;
  const pod = run.attempts.pod[attempt];
  if (row.column >= 0) return winner && winner.node !== row.node ? behind(cells, row, winner) : ["It was chosen."];
  const plugin = pluginOf(cells, row.verdict);
  const reasons = reasonOf(cells, row.verdict);
  const said = [`${plugin} is the first filter that rejects it: ${reasons}.`];
  const node = rowsOf(run).get(row.node) ?? -1;
  if (node < 0) return said;
  const requests = run.shapes[run.pods.shape[pod]].requests;
  run.resources.forEach((resource, r) => {
    if (!isNamed(resource, reasons)) return;
    const offered = run.nodes.allocatable[r][node];
    const short = shortage(replay, pod, node, r, victims);
    said.push(short > 0
      ? `${resource} is short by ${amount(resource, short)}: it asks for ${amount(resource, requests[r])}, and ${amount(resource, requests[r] - short)} of ${amount(resource, offered)} was free.`
      : `${resource}: it asks for ${amount(resource, requests[r])} of ${amount(resource, offered)}; nominated pods hold the rest.`);
  });
  const taints = run.nodes.taints[node] ?? [];
  if (plugin === "TaintToleration" && taints.length) said.push(`Taints of the node at the end of the run: ${taints.join(", ")}. A toleration for each would let it pass this filter.`);
  if (cells.said[row.verdict - 1]?.[1] === "UnschedulableAndUnresolvable") said.push("Preemption could not help: no pod on the node is the cause.");
  const later = cells.filters.slice(cells.filters.indexOf(plugin) + 1).length;
  if (later > 0) said.push(`${counted(later, "further filter")} did not run on this node.`);
  return said;
}

export interface Gap {
  plugin: string;
  mine: number;
  theirs: number;
  difference: number;
}

/** Where two nodes differ, plugin by plugin, the largest difference first. */
export function gaps(cells: Cells, one: Row, other: Row): Gap[] {
  return cells.plugins
    .map((plugin, p) => {
      const final = (row: Row) => (row.column < 0 ? 0 : cells.normalized[p][row.column] * cells.weights[p]);
      return { plugin, mine: final(one), theirs: final(other), difference: final(one) - final(other) };
    })
    .sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference));
}

function behind(cells: Cells, row: Row, winner: Row): string[] {
  const short = winner.total - row.total;
  if (short === 0) return [`It passed every filter and has the same total (${whole(row.total)}) as ${winner.node}: the tie was settled by the order of the search.`];
  const because = gaps(cells, row, winner).filter((gap) => gap.difference < 0).slice(0, 3);
  const listed = because.map((gap) => `${gap.plugin} (${whole(gap.difference)})`).join(", ");
  return [`It passed every filter and lacks ${whole(short)} points to ${winner.node}${listed ? `, mostly in ${listed}` : ""}.`];
}

/** The explanation in one breath. */
export function sentence(run: Run, pod: number, attempt: number, detail: Detail | undefined, gone: string[]): string {
  if (pod < 0) return "There is no such pod in this run.";
  const key = run.pods.key[pod];
  const freed = gone.length ? ` It preempted ${gone.length > 1 ? `${gone.length} pods: ` : ""}${gone.join(", ")}.` : "";
  if (attempt < 0) {
    const why = run.reasons.get(pod);
    if (why) return `${key} has no node: ${why}.`;
    if (run.pods.brought[pod]) return `${key} was on ${run.nodes.name[run.pods.node[pod]] ?? "its node"} in the snapshot already; no scheduler of this run tried it.`;
    return `${key} was not tried by a scheduler in this run, or its attempts are not in this page.`;
  }
  return placement(run, key, attempt, detail) + freed;
}

function placement(run: Run, key: string, attempt: number, detail: Detail | undefined): string {
  const { feasible, node, nominated } = run.attempts;
  if (run.outcomeOf(attempt) !== "scheduled") {
    const aim = nominated[attempt] >= 0 ? ` It is nominated for ${run.nodes.name[nominated[attempt]]}.` : "";
    return `${key} was not placed: ${run.messageOf(attempt) || run.outcomeOf(attempt)}${aim}`;
  }
  const home = run.nodes.name[node[attempt]] ?? "its node";
  const [first, second] = detail?.best ?? [];
  if (feasible[attempt] === 1) return `${key} went to ${home}, the only node that could take it.`;
  if (!first) return `${key} went to ${home}.`;
  const ties = detail?.cells ? detail.cells.total.filter((total) => total === first[1]).length : 0;
  if (ties > 1) return `${key} went to ${home}: it shares the highest total (${whole(first[1])}) with ${whole(ties - 1)} of ${whole(feasible[attempt])} feasible nodes and won the tie.`;
  if (second?.[1] === first[1]) return `${key} went to ${home}: it shares the highest total (${whole(first[1])}) of ${whole(feasible[attempt])} feasible nodes with others and won the tie.`;
  const lead = second ? `, ${whole(first[1] - second[1])} ahead of ${second[0]}` : "";
  return `${key} went to ${home}: of ${whole(feasible[attempt])} feasible nodes it has the highest total (${whole(first[1])}${lead}).`;
}
