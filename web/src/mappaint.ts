/** How the map is drawn: where tiles are, their colours, the pods inside them, and rings around those that matter. */
import { contrast, KINDS, ramp, SHADES, themed } from "./colours";
import { withoutSuffix } from "./names";
import type { Colouring, MapState } from "./nodemap";
import { PLACED } from "./replay";

const TITLE = 20;
const GAP = 8;
/** Tiles from this size on have the name of their node and its pods. */
export const BLOCKS = 64;
/** How wide groups are to how tall. */
const SHAPES = [1.6, 1, 2.5];
/** No tile is larger, even if a cluster has few nodes. */
const LARGEST = 320;
/** From this size of a tile on its pods stand one above the other, with their names, if none is thinner than this. */
const [NAMED, THIN] = [120, 5];

interface Tile {
  row: number;
  x: number;
  y: number;
}

export interface Plan {
  tiles: Tile[];
  titles: { name: string; x: number; y: number }[];
  size: number;
  height: number;
}

/** Tiles as large as fit into the box, and never so small that a node cannot be seen. */
export function layout(groups: { name: string; rows: number[] }[], width: number, height: number): Plan {
  const place = (size: number, shape: number): Plan => {
    const plan: Plan = { tiles: [], titles: [], size, height: 0 };
    let [x, y, tallest] = [0, 0, 0];
    for (const { name, rows } of groups) {
      // Groups stand side by side where a few columns are enough for one.
      const room = Math.max(1, Math.floor(width / size));
      const across = groups.length > 1 ? Math.min(room, Math.max(Math.ceil(Math.sqrt(rows.length * shape)), Math.ceil(96 / size))) : room;
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
  const largest = (shape: number): Plan => {
    let [low, high] = [4, LARGEST];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (place(middle, shape).height <= height) low = middle;
      else high = middle;
    }
    return place(low, shape);
  };
  // Groups may be square or lie; what makes the tiles larger is better.
  return SHAPES.map(largest).reduce((best, plan) => (plan.size > best.size ? plan : best));
}

export interface Marks {
  target: number;
  selected: number;
  hovered: number;
  pod: number;
  victims?: number[];
  /** What all names of nodes end with. */
  suffix: string;
}

export function paint(context: CanvasRenderingContext2D, replay: MapState, plan: Plan, colour: Colouring, domain: [number, number], resource: number, marks: Marks) {
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
    }
  }
  // Nodes that are not there, in one path: thousands of dashed strokes of their own would take a whole frame.
  context.beginPath();
  for (const { row, x, y } of byShade[SHADES]) {
    if (Number.isNaN(colour.values[row]) && !replay.there[row]) context.rect(x + 0.5, y + 0.5, side - 1, side - 1);
  }
  context.strokeStyle = line;
  context.setLineDash([2, 2]);
  context.stroke();
  context.setLineDash([]);
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

/** The pods of a node: the area of each is its share of the resource. */
function paintPods(context: CanvasRenderingContext2D, replay: MapState, { row, x, y }: Tile, side: number, resource: number, marks: Marks, text: string) {
  const { run } = replay;
  const offered = run.nodes.allocatable[resource][row] || 1;
  const box = { left: x + 7, top: y + 16, wide: side - 9, tall: side - 18 };
  const pods = replay.on[row].map((pod) => ({ pod, share: run.shapes[run.pods.shape[pod]].requests[resource] / offered, colour: pod === marks.pod ? KINDS[5] : KINDS[0] }));
  context.fillStyle = text;
  context.fillText(short(context, withoutSuffix(run.nodes.name[row], marks.suffix), box.wide), box.left, y + 12);
  if (side >= NAMED && pods.every(({ share }) => share * box.tall >= THIN)) {
    slabs(context, box, pods, (pod) => run.pods.key[pod].slice(run.pods.key[pod].indexOf("/") + 1));
  } else lines(context, box, pods);
}

interface Box {
  left: number;
  top: number;
  wide: number;
  tall: number;
}

interface Block {
  pod: number;
  share: number;
  colour: string;
}

/** One above the other, each with its name where it is tall enough. */
function slabs(context: CanvasRenderingContext2D, { left, top, wide, tall }: Box, pods: Block[], nameOf: (pod: number) => string) {
  let at = top;
  for (const { pod, share, colour } of pods) {
    const height = Math.min(share * tall, top + tall - at);
    if (height < 1) return;
    context.fillStyle = colour;
    context.fillRect(left, at, wide, Math.max(1, height - 1));
    if (height >= 14) {
      context.fillStyle = colour === KINDS[5] ? "#000" : "#fff";
      context.fillText(short(context, nameOf(pod), wide - 8), left + 4, at + Math.min(height / 2, 12) + 4);
    }
    at += height;
  }
}

/** One after the other, as text fills lines. */
function lines(context: CanvasRenderingContext2D, { left, top, wide, tall }: Box, pods: Block[]) {
  const count = Math.max(1, Math.floor(tall / 10));
  const line = tall / count;
  let at = 0;
  for (const { share, colour } of pods) {
    let length = Math.max(share * count * wide, 2);
    context.fillStyle = colour;
    while (length > 0.5 && at < count * wide - 0.5) {
      const number = Math.floor(at / wide + 1e-9);
      const part = Math.min(length, (number + 1) * wide - at);
      context.fillRect(left + at - number * wide, top + number * line, Math.max(1, part - 1), line - 1);
      at += part;
      length -= part;
    }
  }
}

const cuts = new Map<string, string>();

/** A name as far as there is room, without its middle; asked for in every frame, so the answer is kept. */
function short(context: CanvasRenderingContext2D, name: string, width: number): string {
  const key = `${Math.floor(width)} ${name}`;
  let found = cuts.get(key);
  if (found === undefined) {
    if (cuts.size > 20_000) cuts.clear();
    let keep = name.length;
    const cut = () => (keep === name.length ? name : `${name.slice(0, Math.ceil(keep / 2))}…${name.slice(name.length - Math.floor(keep / 2))}`);
    while (keep > 2 && context.measureText(cut()).width > width) keep -= 1;
    cuts.set(key, (found = cut()));
  }
  return found;
}

function paintMarks(context: CanvasRenderingContext2D, replay: MapState, plan: Plan, marks: Marks, side: number) {
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

