/** Every node as a tile, in groups of a label's values; pods are blocks inside where there is room. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { contrast, KINDS, shade } from "./colours";
import type { Cells } from "./data";
import { amount, counted, groupNodes, whole } from "./derive";
import { BLOCKS, layout, paint } from "./mappaint";
import { commonSuffix } from "./names";
import type { Run } from "./run";

const FLIGHT = 220;

/** What the map draws: a moment of a run, or the live cluster. */
export interface MapState {
  run: {
    resources: string[];
    nodes: Pick<Run["nodes"], "name" | "labels" | "allocatable" | "taints">;
    pods: Pick<Run["pods"], "key" | "node" | "shape">;
    shapes: Run["shapes"];
  };
  /** Requested amounts on each node, by resource. */
  used: Float64Array[];
  /** How many pods are on each node. */
  pods: Int32Array;
  there: Uint8Array;
  state: Uint8Array;
  /** Pods on each node, by their place. */
  on: number[][];
}

export interface Colouring {
  label: string;
  /** NaN: there is nothing to show for the node. */
  values: Float64Array;
  text: (value: number) => string;
  /** Whether values are differences around zero. */
  isDifference?: boolean;
  /** The values of a map that is shown next to this one: both have the same scale. */
  beside?: Float64Array;
}

/** The least and the most of the values, in round numbers: not 0 to 100 % where all are between 50 and 60. */
function domainOf({ values, isDifference, beside }: Colouring, step: number): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const each of beside ? [values, beside] : [values]) {
    for (const value of each) {
      if (value < least) least = value;
      if (value > most) most = value;
    }
  }
  if (isDifference) {
    const far = Math.max(Math.abs(least), Math.abs(most), step);
    return Number.isFinite(far) ? [-far, far] : [-step, step];
  }
  if (!Number.isFinite(least)) return [0, step];
  const [low, high] = [Math.floor(least / step) * step, Math.ceil(most / step) * step];
  if (high > low) return [low, high];
  // All are the same: full is as dark as full ever is.
  return low > 0 ? [low - step, low] : [low, low + step];
}

function stepOf(most: number, isShare: boolean): number {
  return isShare ? 0.1 : Math.max(1, 10 ** Math.floor(Math.log10(Math.max(1, Math.abs(most)))));
}

/** What the map can be coloured by. */
export function colouring(replay: MapState, by: string, cells: Cells | undefined): Colouring {
  const { run } = replay;
  const nodes = run.nodes.name.length;
  const values = new Float64Array(nodes).fill(NaN);
  // Halves go away from zero, so that both ends of a difference read alike.
  const percent = (value: number) => `${Math.sign(value) * Math.round(Math.abs(value) * 100) || 0} %`;
  if (by.startsWith("score:")) {
    const plugin = by.slice("score:".length);
    const column = cells && (plugin === "total" ? cells.total : cells.normalized[cells.plugins.indexOf(plugin)]);
    if (cells && column) {
      const rows = rowsOf(run);
      cells.feasible.forEach((node, i) => (values[rows.get(node) ?? 0] = column[i]));
    }
    return { label: plugin === "total" ? "total score of this decision" : `normalised score of ${plugin} in this decision`, values, text: whole };
  }
  if (by === "count") {
    for (let i = 0; i < nodes; i++) if (replay.there[i]) values[i] = replay.pods[i];
    return { label: "pods on the node", values, text: whole };
  }
  const [what, name] = by.startsWith("free:") ? ["free", by.slice(5)] : ["used", by];
  const resource = Math.max(0, run.resources.indexOf(name));
  const offered = run.nodes.allocatable[resource];
  const used = replay.used[resource];
  for (let i = 0; i < nodes; i++) {
    if (!replay.there[i] || !(offered[i] > 0)) continue;
    values[i] = what === "free" ? offered[i] - used[i] : used[i] / offered[i];
  }
  return what === "free"
    ? { label: `free ${run.resources[resource]}`, values, text: (value) => amount(run.resources[resource], value) }
    : { label: `requested share of ${run.resources[resource]}`, values, text: percent };
}

const rowsKnown = new WeakMap<MapState["run"], Map<string, number>>();

export function rowsOf(run: MapState["run"]): Map<string, number> {
  let rows = rowsKnown.get(run);
  if (!rows) rowsKnown.set(run, (rows = new Map(run.nodes.name.map((name, i) => [name, i]))));
  return rows;
}

interface Props {
  replay: MapState;
  colour: Colouring;
  resource: number;
  group: string;
  selected?: string;
  onSelect?: (node: string) => void;
  /** The node and the victims of the decision at the cursor. */
  target?: number;
  victims?: number[];
  pod?: number;
  /** Changes whenever a pod flies in. */
  flight?: number;
  label: string;
}

export function NodeMap({ replay, colour, resource, group, selected, onSelect, target = -1, victims, pod = -1, flight = -1, label }: Props) {
  const { run } = replay;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const flyer = useRef<HTMLElement>(null);
  const [size, setSize] = useState<[number, number]>([0, 0]);
  const [hovered, setHovered] = useState(-1);
  const [scheme, setScheme] = useState(0);
  const groups = useMemo(() => groupNodes(run, group), [run, group]);
  const plan = useMemo(() => layout(groups, Math.max(40, size[0]), Math.max(60, size[1] - 4)), [groups, size]);
  const suffix = useMemo(() => commonSuffix(run.nodes.name), [run]);
  const isShare = colour.text(1).endsWith("%");
  const domain = domainOf(colour, stepOf(Math.max(maximum(colour.values), maximum(colour.beside ?? colour.values)), isShare));

  useEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => setSize([element.clientWidth, element.clientHeight]));
    observer.observe(element);
    const media = matchMedia("(prefers-color-scheme: dark)");
    const renew = () => setScheme((value) => value + 1);
    media.addEventListener("change", renew);
    return () => {
      observer.disconnect();
      media.removeEventListener("change", renew);
    };
  }, []);

  // Before the frame is shown: a canvas of another size would be stretched for a moment.
  useLayoutEffect(() => {
    const element = canvas.current!;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [Math.round(Math.max(40, size[0]) * ratio), Math.round(plan.height * ratio)];
    if (element.width !== width || element.height !== height) Object.assign(element, { width, height });
    const context = element.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size[0], plan.height);
    const marks = { target, pod, victims, suffix, selected: selected ? rowsOf(run).get(selected) ?? -1 : -1, hovered };
    paint(context, replay, plan, colour, domain, resource, marks);
  });

  useEffect(() => {
    if (flight < 0 || target < 0 || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const aim = plan.tiles.find((tile) => tile.row === target);
    if (!aim) return;
    const [x, y] = [aim.x + plan.size / 2, aim.y + plan.size / 2];
    const path = [{ opacity: 1, transform: `translate(0, ${Math.min(size[1], plan.height) / 2}px)` }, { opacity: 1, transform: `translate(${x}px, ${y}px)` }];
    const flying = flyer.current!.animate(path, { duration: FLIGHT, easing: "ease-out" });
    return () => flying.cancel();
  }, [flight]);

  const find = (event: React.PointerEvent) => {
    const area = canvas.current!.getBoundingClientRect();
    const [x, y] = [event.clientX - area.left, event.clientY - area.top];
    return plan.tiles.find((tile) => x >= tile.x && x < tile.x + plan.size && y >= tile.y && y < tile.y + plan.size)?.row ?? -1;
  };
  const told = hovered >= 0 ? hovered : selected ? rowsOf(run).get(selected) ?? -1 : target;
  return (
    <figure className="nodemap">
      <div className="canvas" ref={box}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={label}
          style={{ width: "100%", height: plan.height }}
          onPointerMove={(event) => {
            const row = find(event);
            if (row !== hovered) setHovered(row);
          }}
          onPointerLeave={() => setHovered(-1)}
          onClick={(event) => {
            const row = find(event as unknown as React.PointerEvent);
            if (row >= 0) onSelect?.(run.nodes.name[row]);
          }}
          data-scheme={scheme}
        />
        <i className="flyer" ref={flyer} aria-hidden="true" />
      </div>
      <figcaption>
        <Legend colour={colour} domain={domain} hasBlocks={plan.size >= BLOCKS} hasPod={pod >= 0} />
        <span className="told">{told >= 0 ? describe(replay, told, colour) : "Point at a tile for its node"}</span>
      </figcaption>
    </figure>
  );
}

function maximum(values: Float64Array): number {
  let most = 0;
  for (const value of values) if (Math.abs(value) > most) most = Math.abs(value);
  return most;
}

function describe(replay: MapState, row: number, colour: Colouring): string {
  const { run } = replay;
  const parts = run.resources.filter((name) => name !== "pods").slice(0, 3).map((name) => {
    const r = run.resources.indexOf(name);
    return `${name} ${amount(name, replay.used[r][row])} of ${amount(name, run.nodes.allocatable[r][row])}`;
  });
  const value = colour.values[row];
  const own = Number.isNaN(value) || colour.label.startsWith("requested") || colour.label.startsWith("pods") ? [] : [`${colour.label} ${colour.text(value)}`];
  const taints = run.nodes.taints[row]?.length ? [`taint ${run.nodes.taints[row].join(", ")}`] : [];
  return `${run.nodes.name[row]}: ${[counted(replay.pods[row], "pod"), ...parts, ...own, ...taints].join(" · ")}`;
}

function Legend({ colour, domain, hasBlocks, hasPod }: { colour: Colouring; domain: [number, number]; hasBlocks: boolean; hasPod: boolean }) {
  const [least, most] = domain;
  const one = colour.values.find((value) => !Number.isNaN(value)) ?? NaN;
  const isOther = (value: number) => !Number.isNaN(value) && value !== one;
  const isOne = !colour.values.some(isOther) && !colour.beside?.some(isOther);
  const marks = isOne ? [(one - least) / (most - least)] : [0, 0.25, 0.5, 0.75, 1];
  return (
    <span className="legend">
      <b>{colour.label}</b>
      {colour.values.every(Number.isNaN) ? <span>{colour.label.includes("score") ? "nothing was scored in this decision" : "no node is there at this moment"}</span> : marks.map((mark) => {
        const value = least + mark * (most - least);
        return (
          <span key={mark}>
            <i style={{ background: colour.isDifference ? contrast(2 * mark - 1) : shade(mark) }} />
            {colour.isDifference && value > 0 ? "+" : ""}{colour.text(value)}{isOne && " everywhere"}
          </span>
        );
      })}
      {hasBlocks && !colour.isDifference && <span><i style={{ background: KINDS[0] }} />a pod, as large as its share</span>}
      {hasBlocks && hasPod && <span><i style={{ background: KINDS[5] }} />the pod of this decision</span>}
    </span>
  );
}
