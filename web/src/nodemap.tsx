/** Every node as a tile, in groups of a label's values; pods are blocks inside where there is room. */
import { useEffect, useMemo, useRef, useState } from "react";
import { contrast, KINDS, ramp, SHADES, shade, themed } from "./colours";
import type { Cells } from "./data";
import { amount, counted, groupNodes, whole } from "./derive";
import { PLACED, type Replay } from "./replay";
import type { Run } from "./run";

const TITLE = 20;
const GAP = 8;
const BLOCKS = 64;
const FLIGHT = 220;

interface Tile {
  row: number;
  x: number;
  y: number;
}

interface Plan {
  tiles: Tile[];
  titles: { name: string; x: number; y: number }[];
  size: number;
  height: number;
}

/** Tiles as large as fit into the box, and never so small that a node cannot be seen. */
function layout(groups: { name: string; rows: number[] }[], width: number, height: number): Plan {
  const place = (size: number): Plan => {
    const plan: Plan = { tiles: [], titles: [], size, height: 0 };
    let [x, y, tallest] = [0, 0, 0];
    for (const { name, rows } of groups) {
      // Groups stand side by side where a few columns are enough for one.
      const room = Math.max(1, Math.floor(width / size));
      const across = groups.length > 1 ? Math.min(room, Math.max(Math.ceil(Math.sqrt(rows.length * 1.6)), Math.ceil(96 / size))) : room;
      const wide = across * size;
      if (x > 0 && x + wide > width) [x, y, tallest] = [0, y + tallest, 0];
      const above = name ? TITLE : 2;
      plan.titles.push({ name: name && `${name} (${rows.length})`, x, y });
      rows.forEach((row, i) => plan.tiles.push({ row, x: x + (i % across) * size, y: y + above + Math.floor(i / across) * size }));
      tallest = Math.max(tallest, above + Math.ceil(rows.length / across) * size + GAP);
      x += wide + 2 * GAP;
    }
    plan.height = y + tallest;
    return plan;
  };
  let [low, high] = [4, 132];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (place(middle).height <= height) low = middle;
    else high = middle;
  }
  return place(low);
}

export interface Colouring {
  label: string;
  /** NaN: there is nothing to show for the node. */
  values: Float64Array;
  text: (value: number) => string;
  /** Whether values are differences around zero. */
  isDifference?: boolean;
}

/** The least and the most of the values, in round numbers: not 0 to 100 % where all are between 50 and 60. */
function domainOf({ values, isDifference }: Colouring, step: number): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  if (isDifference) {
    const far = Math.max(Math.abs(least), Math.abs(most), step);
    return Number.isFinite(far) ? [-far, far] : [-step, step];
  }
  if (!Number.isFinite(least)) return [0, step];
  const [low, high] = [Math.floor(least / step) * step, Math.ceil(most / step) * step];
  return [low, high > low ? high : low + step];
}

function stepOf(most: number, isShare: boolean): number {
  return isShare ? 0.1 : Math.max(1, 10 ** Math.floor(Math.log10(Math.max(1, Math.abs(most)))));
}

/** What the map can be coloured by. */
export function colouring(replay: Replay, by: string, cells: Cells | undefined): Colouring {
  const { run } = replay;
  const nodes = run.nodes.name.length;
  const values = new Float64Array(nodes).fill(NaN);
  const percent = (value: number) => `${Math.round(value * 100)} %`;
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

const rowsKnown = new WeakMap<Run, Map<string, number>>();

export function rowsOf(run: Run): Map<string, number> {
  let rows = rowsKnown.get(run);
  if (!rows) rowsKnown.set(run, (rows = new Map(run.nodes.name.map((name, i) => [name, i]))));
  return rows;
}

interface Props {
  replay: Replay;
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
  const isShare = colour.text(1).endsWith("%");
  const domain = domainOf(colour, stepOf(maximum(colour.values), isShare));

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

  useEffect(() => {
    const element = canvas.current!;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [Math.round(Math.max(40, size[0]) * ratio), Math.round(plan.height * ratio)];
    if (element.width !== width || element.height !== height) Object.assign(element, { width, height });
    const context = element.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size[0], plan.height);
    const marks = { target, pod, victims, selected: selected ? rowsOf(run).get(selected) ?? -1 : -1, hovered };
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
        <Legend colour={colour} domain={domain} hasBlocks={plan.size >= BLOCKS} />
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

function describe(replay: Replay, row: number, colour: Colouring): string {
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

interface Marks {
  target: number;
  selected: number;
  hovered: number;
  pod: number;
  victims?: number[];
}

function paint(context: CanvasRenderingContext2D, replay: Replay, plan: Plan, colour: Colouring, domain: [number, number], resource: number, marks: Marks) {
  const { size } = plan;
  const [least, most] = domain;
  const colours = ramp();
  const gap = size > 5 ? Math.max(1, Math.min(3, size / 16)) : 0.5;
  const [ground, line, text] = [themed("--panel"), themed("--line-strong"), themed("--text")];
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "alphabetic";
  context.fillStyle = text;
  for (const { name, x, y } of plan.titles) context.fillText(name, x, y + 14);
  const hasBlocks = size >= BLOCKS;
  const byShade: Tile[][] = Array.from({ length: SHADES + 1 }, () => []);
  for (const tile of plan.tiles) {
    const value = colour.values[tile.row];
    if (Number.isNaN(value) || colour.isDifference) byShade[SHADES].push(tile);
    else byShade[Math.round(Math.min(1, Math.max(0, (value - least) / (most - least))) * (SHADES - 1))].push(tile);
  }
  const side = size - gap;
  for (let i = 0; i < SHADES; i++) {
    if (!byShade[i].length) continue;
    context.fillStyle = hasBlocks ? ground : colours[i];
    for (const { x, y } of byShade[i]) context.fillRect(x, y, side, side);
    if (hasBlocks) {
      context.fillStyle = colours[i];
      for (const { x, y } of byShade[i]) context.fillRect(x, y, 5, side);
    }
  }
  for (const { row, x, y } of byShade[SHADES]) {
    const value = colour.values[row];
    if (!Number.isNaN(value)) {
      context.fillStyle = contrast(value / most);
      context.fillRect(x, y, side, side);
    } else if (replay.there[row]) {
      context.fillStyle = ground;
      context.fillRect(x, y, side, side);
      if (size >= 8) hatch(context, x, y, side, line);
    } else {
      context.strokeStyle = line;
      context.setLineDash([2, 2]);
      context.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
      context.setLineDash([]);
    }
  }
  if (hasBlocks && !colour.isDifference) for (const tile of plan.tiles) if (replay.there[tile.row]) paintPods(context, replay, tile, side, resource, marks, text);
  paintMarks(context, replay, plan, marks, side);
}

function hatch(context: CanvasRenderingContext2D, x: number, y: number, side: number, colour: string) {
  context.strokeStyle = colour;
  context.beginPath();
  context.moveTo(x, y + side);
  context.lineTo(x + side, y);
  context.stroke();
}

/** Pods fill their node as text fills lines: the area of each is its share of the resource. */
function paintPods(context: CanvasRenderingContext2D, replay: Replay, { row, x, y }: Tile, side: number, resource: number, marks: Marks, text: string) {
  const { run } = replay;
  const [top, left, wide] = [y + 16, x + 7, side - 9];
  const lines = Math.max(1, Math.floor((side - 18) / 10));
  const line = (side - 18) / lines;
  const offered = run.nodes.allocatable[resource][row] || 1;
  context.fillStyle = text;
  context.fillText(short(context, run.nodes.name[row], wide), left, y + 12);
  let at = 0;
  for (const pod of replay.on[row]) {
    const share = run.shapes[run.pods.shape[pod]].requests[resource] / offered;
    let length = Math.max(share * lines * wide, 2);
    context.fillStyle = pod === marks.pod ? KINDS[5] : KINDS[0];
    while (length > 0.5 && at < lines * wide - 0.5) {
      const [number, inside] = [Math.floor(at / wide + 1e-9), at - Math.floor(at / wide + 1e-9) * wide];
      const part = Math.min(length, wide - inside);
      context.fillRect(left + inside, top + number * line, Math.max(1, part - 1), line - 1);
      at += part;
      length -= part;
    }
  }
}

function short(context: CanvasRenderingContext2D, name: string, width: number): string {
  if (context.measureText(name).width <= width) return name;
  let keep = name.length - 1;
  const cut = () => `${name.slice(0, Math.ceil(keep / 2))}…${name.slice(name.length - Math.floor(keep / 2))}`;
  while (keep > 2 && context.measureText(cut()).width > width) keep -= 1;
  return cut();
}

function paintMarks(context: CanvasRenderingContext2D, replay: Replay, plan: Plan, marks: Marks, side: number) {
  const ring = (row: number, colour: string, width: number, dash: number[] = []) => {
    const tile = row >= 0 ? plan.tiles.find((each) => each.row === row) : undefined;
    if (!tile) return;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.strokeRect(tile.x - 1, tile.y - 1, side + 2, side + 2);
    context.setLineDash([]);
    context.lineWidth = 1;
  };
  const { pods } = replay.run;
  for (const victim of marks.victims ?? []) if (replay.state[victim] !== PLACED) ring(pods.node[victim], themed("--harm"), 2, [3, 2]);
  ring(marks.selected, themed("--text"), 2);
  ring(marks.target, KINDS[1], 3);
  ring(marks.hovered, themed("--soft"), 1.5);
}

function Legend({ colour, domain, hasBlocks }: { colour: Colouring; domain: [number, number]; hasBlocks: boolean }) {
  const [least, most] = domain;
  const marks = [0, 0.25, 0.5, 0.75, 1];
  return (
    <span className="legend">
      <b>{colour.label}</b>
      {colour.values.every(Number.isNaN) ? <span>nothing was scored in this decision</span> : marks.map((mark) => {
        const value = least + mark * (most - least);
        return (
          <span key={mark}>
            <i style={{ background: colour.isDifference ? contrast(2 * mark - 1) : shade(mark) }} />
            {colour.isDifference && value > 0 ? "+" : ""}{colour.text(value)}
          </span>
        );
      })}
      {hasBlocks && !colour.isDifference && <span><i style={{ background: KINDS[0] }} />a pod, as large as its share</span>}
    </span>
  );
}
