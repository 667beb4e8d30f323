/** The live cluster in the columns that the map reads: what nodes offer, what their pods request, and who waits. */
import type { Shape } from "../data";
import { PLACED, UNSCHEDULABLE } from "../replay";
import type { MapState } from "../nodemap";
import type { KubeObject } from "./api";
import type { Feed } from "./feed";
import { parseQuantity } from "./quantity";

const FIRST = ["cpu", "memory", "nvidia.com/gpu", "pods"];

interface Container {
  restartPolicy?: string;
  resources?: { requests?: Record<string, string> };
}

/** What a pod asks for: the sum of its containers, or the largest of the init containers where that is more. */
export function requestsOf({ spec }: KubeObject): Record<string, number> {
  const total: Record<string, number> = {};
  const before: Record<string, number> = {};
  const amounts = (container: Container) => Object.entries(container.resources?.requests ?? {}).map(([name, text]) => [name, parseQuantity(name, text)] as const);
  for (const container of (spec?.containers ?? []) as Container[]) for (const [name, value] of amounts(container)) total[name] = (total[name] ?? 0) + value;
  const kept: Record<string, number> = {};
  for (const container of (spec?.initContainers ?? []) as Container[]) {
    for (const [name, value] of amounts(container)) {
      if (container.restartPolicy === "Always") kept[name] = (kept[name] ?? 0) + value;
      else before[name] = Math.max(before[name] ?? 0, (kept[name] ?? 0) + value);
    }
  }
  for (const [name, value] of Object.entries(kept)) total[name] = (total[name] ?? 0) + value;
  for (const [name, value] of Object.entries(before)) total[name] = Math.max(total[name] ?? 0, value);
  for (const [name, text] of Object.entries((spec?.overhead ?? {}) as Record<string, string>)) total[name] = (total[name] ?? 0) + parseQuantity(name, text);
  for (const [name, text] of Object.entries((spec?.resources?.requests ?? {}) as Record<string, string>)) total[name] = parseQuantity(name, text);
  return { ...total, pods: 1 };
}

export function taintTexts({ spec }: KubeObject): string[] {
  return ((spec?.taints ?? []) as { key: string; value?: string; effect: string }[]).map(({ key, value, effect }) => `${key}${value ? `=${value}` : ""}:${effect}`);
}

export function isOver(pod: KubeObject): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

export interface LiveCluster extends MapState {
  /** Pods without a node that wait for a scheduler. */
  waiting: KubeObject[];
  bound: number;
}

/** What nodes offer, in columns: a list a resource, the usual ones first. */
export function nodeColumns(rows: KubeObject[]): Pick<MapState["run"], "resources" | "nodes"> {
  const offered = (node: KubeObject) => (node.status?.allocatable ?? node.status?.capacity ?? {}) as Record<string, string>;
  const named = new Set(rows.flatMap((node) => Object.keys(offered(node))));
  const resources = [...FIRST.filter((name) => named.has(name)), ...[...named].filter((name) => !FIRST.includes(name)).sort()];
  const nodes = {
    name: rows.map((node) => node.metadata.name),
    labels: rows.map((node) => node.metadata.labels ?? {}),
    allocatable: resources.map((name) => rows.map((node) => parseQuantity(name, offered(node)[name]))),
    taints: rows.map(taintTexts),
  };
  return { resources, nodes };
}

/** Both feeds as columns; some milliseconds for thousands of nodes, at most four times a second. */
export function clusterOf(nodes: Feed | undefined, pods: Feed | undefined): LiveCluster {
  const rows = [...(nodes?.rows.values() ?? [])].map((row) => row.object).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const { resources, nodes: offered } = nodeColumns(rows);
  const place = new Map(rows.map((node, i) => [node.metadata.name, i]));
  const all = [...(pods?.rows.values() ?? [])].map((row) => row.object);
  const used = resources.map(() => new Float64Array(rows.length));
  const counts = new Int32Array(rows.length);
  const on: number[][] = rows.map(() => []);
  const shapes: Shape[] = [];
  const shapeOf = new Map<string, number>();
  const columns = { key: [] as string[], node: [] as number[], shape: [] as number[] };
  const state = new Uint8Array(all.length);
  const waiting: KubeObject[] = [];
  let bound = 0;
  all.forEach((pod, i) => {
    const requests = requestsOf(pod);
    const amounts = resources.map((name) => requests[name] ?? 0);
    const id = `${amounts.join()} ${pod.spec?.priority ?? 0}`;
    let shape = shapeOf.get(id);
    if (shape === undefined) {
      shapeOf.set(id, (shape = shapes.length));
      shapes.push({ requests: amounts, priority: pod.spec?.priority ?? 0 });
    }
    const node = pod.spec?.nodeName ? (place.get(pod.spec.nodeName) ?? -1) : -1;
    columns.key.push(`${pod.metadata.namespace}/${pod.metadata.name}`);
    columns.node.push(node);
    columns.shape.push(shape);
    state[i] = node >= 0 ? PLACED : UNSCHEDULABLE;
    if (pod.spec?.nodeName) bound += 1;
    else if (!isOver(pod) && !pod.metadata.deletionTimestamp) waiting.push(pod);
    if (node < 0 || isOver(pod)) return;
    for (let r = 0; r < amounts.length; r++) used[r][node] += amounts[r];
    counts[node] += 1;
    on[node].push(i);
  });
  const run = { resources, shapes, pods: columns, nodes: offered };
  return { run, used, pods: counts, there: new Uint8Array(rows.length).fill(1), state, on, waiting, bound };
}
