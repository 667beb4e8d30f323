/** Curves over steps, with a mark at the chosen one; several charts follow one cursor. */
import { useMemo, useState, useSyncExternalStore } from "react";
import { Canvas } from "./canvas";
import { KINDS, themed } from "./colours";
import { counted } from "./derive";

export interface Curve {
  name: string;
  values: number[];
  /** Counts of what happened in a step, not a level that lasts: bars, no line. */
  isBar?: boolean;
}

interface Props {
  title: string;
  unit: string;
  labels: string[];
  /** Where each value is on the axis: the state before the first step, then the end of each step. */
  places: ArrayLike<number>;
  curves: Curve[];
  step: number;
  onStep: (step: number) => void;
}

const HEIGHT = 190;
const [ABOVE, BELOW, RIGHT] = [8, 24, 12];

/** The step that the pointer is at in any chart: the legends of all have its values. */
const pointed = { step: -1, followers: new Set<() => void>() };

function point(step: number): void {
  if (pointed.step === step) return;
  pointed.step = step;
  pointed.followers.forEach((follow) => follow());
}

function subscribe(follow: () => void): () => void {
  pointed.followers.add(follow);
  return () => pointed.followers.delete(follow);
}

/** Round numbers from the least to the most, about as many as asked for. */
function ticksOf(least: number, most: number, count: number): number[] {
  const rough = (most - least) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough)!;
  const [first, last] = [Math.floor(least / step + 1e-9), Math.ceil(most / step - 1e-9)];
  return Array.from({ length: Math.max(2, last - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function figure(value: number | undefined, unit: string): string {
  return value === undefined || Number.isNaN(value) ? "–" : `${(Math.round(value * 10) / 10).toLocaleString("en-US")}${unit}`;
}

function colourOf(curve: Curve, i: number): string {
  return curve.isBar ? KINDS[5] : KINDS[i % KINDS.length];
}

export function Curves({ title, unit, labels, places, curves, step, onStep }: Props) {
  const over = useSyncExternalStore(subscribe, () => pointed.step);
  const [hovered, setHovered] = useState(false);
  const ticks = useMemo(() => {
    let [least, most] = [0, 0];
    for (const { values } of curves) {
      for (const value of values) {
        if (value < least) least = value;
        if (value > most) most = value;
      }
    }
    return ticksOf(least, most, 4);
  }, [curves]);
  const count = labels.length;
  const left = 16 + 7 * Math.max(...ticks.map((tick) => figure(tick, unit).length));
  const [first, last] = [places[0], places[count - 1]];
  const across = (width: number) => (place: number) => left + (last > first ? (place - first) / (last - first) : 0.5) * (width - left - RIGHT);
  const nearest = (x: number, width: number): number => {
    const at = across(width);
    let best = 0;
    for (let i = 1; i < count; i++) if (Math.abs(at(places[i]) - x) < Math.abs(at(places[best]) - x)) best = i;
    return best;
  };
  const told = over >= 0 && over < count ? over : step;
  return (
    <figure className="curves">
      <figcaption>{title}</figcaption>
      <Canvas
        height={HEIGHT}
        label={`${title} over ${counted(count - 1, "step")}`}
        draw={(context, width) => {
          const chart = { context, left, right: width - RIGHT, x: across(width), y: (value: number) => ABOVE + (1 - (value - ticks[0]) / (ticks.at(-1)! - ticks[0])) * (HEIGHT - ABOVE - BELOW) };
          grid(chart, ticks.map((tick) => [tick, figure(tick, unit)]), labels, places);
          curves.forEach((curve, i) => (curve.isBar ? bars : line)(chart, curve, places, colourOf(curve, i), i));
          mark(chart, chart.x(places[step]), themed("--link"));
          if (hovered && over >= 0) mark(chart, chart.x(places[over]), themed("--line-strong"));
        }}
        onPoint={(x, _, width) => {
          setHovered(true);
          point(nearest(x, width));
        }}
        onLeave={() => {
          setHovered(false);
          point(-1);
        }}
        onPick={(x, _, width) => onStep(nearest(x, width))}
      />
      <p className="legend">
        <span>{/^\d/.test(labels[told] ?? "") ? "step " : ""}{labels[told]}</span>
        {curves.map((curve, i) => <span key={curve.name}><i style={{ background: colourOf(curve, i) }} />{curve.name} <b>{figure(curve.values[told], unit)}</b></span>)}
      </p>
    </figure>
  );
}

interface Chart {
  context: CanvasRenderingContext2D;
  left: number;
  right: number;
  x: (place: number) => number;
  y: (value: number) => number;
}

function grid({ context, left, right, x, y }: Chart, ticks: [number, string][], labels: string[], places: ArrayLike<number>) {
  context.font = "12px system-ui, sans-serif";
  context.lineWidth = 1;
  context.strokeStyle = themed("--line");
  context.fillStyle = themed("--soft");
  context.textAlign = "right";
  for (const [value, text] of ticks) {
    context.beginPath();
    context.moveTo(left, Math.round(y(value)) + 0.5);
    context.lineTo(right, Math.round(y(value)) + 0.5);
    context.stroke();
    context.fillText(text, left - 8, y(value) + 4);
  }
  context.textAlign = "center";
  let free = -Infinity;
  labels.forEach((label, i) => {
    const [at, half] = [x(places[i]), context.measureText(label).width / 2];
    if (at - half < free) return;
    free = at + half + 12;
    context.fillText(label, at, HEIGHT - 6);
    context.fillRect(Math.round(at), HEIGHT - BELOW, 1, 4);
  });
}

/** A level lasts until the end of the next step. */
function line({ context, x, y }: Chart, { values }: Curve, places: ArrayLike<number>, colour: string, i: number) {
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.setLineDash(i % 2 ? [6, 3] : []);
  context.beginPath();
  let before = NaN;
  values.forEach((value, place) => {
    if (!Number.isFinite(value)) before = NaN;
    else if (Number.isNaN(before)) context.moveTo(x(places[place]), y((before = value)));
    else {
      context.lineTo(x(places[place]), y(before));
      context.lineTo(x(places[place]), y((before = value)));
    }
  });
  context.stroke();
  context.setLineDash([]);
}

/** A count belongs to its step alone. */
function bars({ context, x, y }: Chart, { values }: Curve, places: ArrayLike<number>, colour: string) {
  context.fillStyle = colour;
  values.forEach((value, place) => {
    if (!(value > 0)) return;
    const wide = Math.max(2, Math.min(24, 0.6 * (place ? x(places[place]) - x(places[place - 1]) : 24)));
    context.fillRect(x(places[place]) - wide, y(value), wide, y(0) - y(value));
  });
}

function mark({ context }: Chart, x: number, colour: string) {
  context.fillStyle = colour;
  context.fillRect(Math.round(x), ABOVE, 1, HEIGHT - ABOVE - BELOW);
}
