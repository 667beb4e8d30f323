/** The result annotations of kube-scheduler-simulator as decisions: the panel of a run shows them unchanged. */
import type { Cells, Detail } from "../data";
import { UNSCHEDULABLE, type Replay } from "../replay";
import type { Run } from "../run";
import { get, type KubeObject } from "./api";
import { requestsOf, type LiveCluster } from "./cluster";

const PREFIX = "kube-scheduler-simulator.sigs.k8s.io/";
const HISTORY = `${PREFIX}result-history`;

type ByNode = Record<string, Record<string, string>>;
type Attempt = Record<string, string>;

/** Weights of score plugins, by profile. */
export type Weights = Record<string, Record<string, number>>;

interface PluginSet {
  enabled?: { name: string; weight?: number }[];
}

/** What each plugin counts now; results keep the product alone. */
export async function readWeights(): Promise<Weights> {
  type Profile = { schedulerName?: string; plugins?: Record<string, PluginSet> };
  const found = await get<{ profiles?: Profile[] }>("/api/v1/schedulerconfiguration").catch(() => ({ profiles: [] }));
  return Object.fromEntries((found.profiles ?? []).map(({ schedulerName = "default-scheduler", plugins = {} }) => {
    const listed = [...(plugins.multiPoint?.enabled ?? []), ...(plugins.score?.enabled ?? [])];
    return [schedulerName, Object.fromEntries(listed.filter(({ weight }) => weight).map(({ name, weight }) => [name, weight!]))];
  }));
}

/** Every attempt that the pod has the results of, the oldest first. */
export function attemptsOfPod({ metadata }: KubeObject): Attempt[] {
  const annotations = metadata.annotations ?? {};
  if (annotations[`${PREFIX}filter-result`] === undefined) return [];
  const { [HISTORY]: history = "[]", ...rest } = annotations;
  const last = Object.fromEntries(Object.entries(rest).filter(([key]) => key.startsWith(PREFIX)));
  const kept = JSON.parse(history) as Attempt[];
  return kept.length ? kept : [last];
}

function read<T>(attempt: Attempt, key: string, empty: T): T {
  const text = attempt[`${PREFIX}${key}`];
  return text ? (JSON.parse(text) as T) : empty;
}

function cellsOf(attempt: Attempt, weights: Record<string, number>): Cells {
  const [filters, raw, final] = (["filter-result", "score-result", "finalscore-result"] as const).map((key) => read<ByNode>(attempt, key, {}));
  const nodes = Object.keys(filters);
  const said: string[][] = [];
  const known = new Map<string, number>();
  const verdicts = nodes.map((node) => {
    const rejected = Object.entries(filters[node]).find(([, text]) => text !== "passed");
    if (!rejected) return 0;
    const key = rejected.join("\n");
    if (!known.has(key)) known.set(key, said.push([rejected[0], "Unschedulable", rejected[1]]));
    return known.get(key)!;
  });
  const feasible = nodes.filter((_, i) => verdicts[i] === 0);
  const names = [...new Set(nodes.flatMap((node) => Object.keys(filters[node])))];
  const plugins = [...new Set(Object.values(raw).flatMap((row) => Object.keys(row)))];
  const column = (table: ByNode, plugin: string) => feasible.map((node) => Number(table[node]?.[plugin] ?? 0));
  // A product that its weight does not divide was made with another weight than the one of now.
  const counted = plugins.map((plugin) => (column(final, plugin).every((value) => value % (weights[plugin] ?? 1) === 0) ? (weights[plugin] ?? 1) : 1));
  return {
    nodes, filters: names, verdicts, said, feasible, plugins, weights: counted,
    raw: plugins.map((plugin) => column(raw, plugin)),
    normalized: plugins.map((plugin, p) => column(final, plugin).map((value) => value / counted[p])),
    total: feasible.map((node) => plugins.reduce((sum, plugin) => sum + Number(final[node]?.[plugin] ?? 0), 0)),
  };
}

const POINTS: [string, string][] = [["reserve", "reserve-result"], ["permit", "permit-result"], ["preBind", "prebind-result"], ["bind", "bind-result"]];
const EXTENDERS = ["filter", "prioritize", "preempt", "bind"];

function detailOf(attempt: Attempt, cells: Cells): Detail {
  const order = cells.total.map((total, i) => [cells.feasible[i], total] as [string, number]).sort((a, b) => b[1] - a[1]);
  const points = POINTS.map(([point, key]) => [point, Object.entries(read<Record<string, string>>(attempt, key, {}))]);
  const extenders = EXTENDERS.map((verb) => [verb, Object.entries(read<Record<string, unknown>>(attempt, `extender-${verb}-result`, {})).map(([who, what]) => [who, typeof what === "string" ? what : JSON.stringify(what)])]);
  const before = Object.entries(read<Record<string, string>>(attempt, "prefilter-result-status", {})).filter(([, text]) => text && text !== "success");
  return {
    cells,
    best: cells.plugins.length ? order.slice(0, 3) : [],
    preFilter: before.map(([plugin, text]) => `${plugin}: ${text}`).join("; "),
    points: Object.fromEntries(points) as Detail["points"],
    extenders: Object.fromEntries(extenders) as Detail["extenders"],
  };
}

/** A run of one pod: its attempts, over the nodes as they are now. */
export function podRun(pod: KubeObject, attempts: Attempt[], cluster: LiveCluster, weights: Weights): { run: Run; replay: Replay } {
  const profile = weights[(pod.spec?.schedulerName as string) || "default-scheduler"] ?? {};
  const cells = attempts.map((attempt) => cellsOf(attempt, profile));
  const details = attempts.map((attempt, i) => detailOf(attempt, cells[i]));
  const places = new Map(cluster.run.nodes.name.map((name, i) => [name, i]));
  const { resources } = cluster.run;
  const requests = requestsOf(pod);
  const condition = ((pod.status?.conditions ?? []) as { type: string; message?: string }[]).find((each) => each.type === "PodScheduled");
  const chosen = attempts.map((attempt) => attempt[`${PREFIX}selected-node`] ?? "");
  const nominated = attempts.map((attempt) => Object.entries(read<ByNode>(attempt, "postfilter-result", {})).find(([, row]) => Object.keys(row).length)?.[0] ?? "");
  // A node that is gone since is still named.
  const nodes = { ...cluster.run.nodes, name: [...cluster.run.nodes.name] };
  const placeOf = (name: string) => (name ? (places.get(name) ?? nodes.name.push(name) - 1) : -1);
  const last = attempts.length - 1;
  const on = placeOf((pod.spec?.nodeName as string) ?? "");
  const columns = {
    pod: attempts.map(() => 0), step: attempts.map(() => 0), minor: attempts.map(() => 0),
    node: chosen.map(placeOf), nominated: nominated.map(placeOf),
    visited: cells.map((each) => each.nodes.length), feasible: cells.map((each) => each.feasible.length),
    outcome: [], message: [], reasons: [], victims: [],
  };
  const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
  const run = {
    name: "live", title: "live", steps: [], phases: ["", ""], resources, nodes,
    shapes: [{ requests: resources.map((name) => requests[name] ?? 0), priority: (pod.spec?.priority as number) ?? 0 }],
    pods: { key: [key], shape: [0], node: [on], brought: [false], preemptor: [] },
    attempts: columns, budgets: new Map(), reasons: new Map(),
    outcomeOf: (i: number) => (chosen[i] ? "scheduled" : "unschedulable"),
    messageOf: (i: number) => (i === last && condition?.message) || summed(cells[i]),
    rejectionsOf: () => [],
    tickOf: Int32Array.from(attempts, (_, i) => i + 1),
    attemptsOf: () => attempts.map((_, i) => i),
    source: { decisionNow: (i: number) => details[i] },
  } as unknown as Run;
  const replay = { run, used: cluster.used, pods: cluster.pods, there: cluster.there, on: cluster.on, state: Uint8Array.of(on >= 0 ? 6 : UNSCHEDULABLE), nodesThere: cluster.run.nodes.name.length } as unknown as Replay;
  return { run, replay };
}

function summed({ verdicts, said }: Cells): string {
  const counts = new Map<string, number>();
  for (const verdict of verdicts) if (verdict) counts.set(said[verdict - 1][2], (counts.get(said[verdict - 1][2]) ?? 0) + 1);
  return [...counts].map(([reason, count]) => `${count} ${reason}`).join(", ");
}
