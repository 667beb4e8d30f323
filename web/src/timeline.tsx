/** Steps from left to right with their phases; lanes for operations, each controller, and the pods' lives. Zoom and pan. */
import { useEffect, useMemo, useState } from "react";
import { Canvas } from "./canvas";
import { KINDS, themed } from "./colours";
import type { Lanes } from "./data";
import type { Run } from "./run";
import { axis, counted, duration } from "./derive";

const LANE = 22;
const LABELS = 36;
const BAND = 18;
const HEAD = LABELS + BAND + 4;
const LIVES = 150;
const LEFT = 120;

type Laned = Omit<Run, "lanes"> & Lanes;

interface Props {
  run: Run;
  step: number;
  range: [number, number];
  onStep: (step: number) => void;
  onRange: (range: [number, number]) => void;
}

/** Where a share of a step is on the axis. */
function at(starts: Float64Array, step: number, share: number): number {
  return starts[step] + share * (starts[step + 1] - starts[step]);
}

/** Where an entry is on the axis. */
function place(run: Laned, starts: Float64Array, step: number, minor: number): number {
  return at(starts, step, Math.min(0.98, minor / (run.steps[step].minors + 1)));
}

/** The step at a place of the axis, and which share of it is over. */
function stepAt(starts: Float64Array, where: number): [number, number] {
  let step = starts.length - 2;
  while (step > 0 && starts[step] > where) step -= 1;
  return [step, Math.min(1, Math.max(0, (where - starts[step]) / (starts[step + 1] - starts[step])))];
}

export function Timeline(props: Props) {
  const [lanes, setLanes] = useState<Lanes>();
  useEffect(() => {
    props.run.lanes().then(setLanes, () => undefined);
  }, [props.run]);
  if (!lanes) return <p className="hint" role="status">Loading the timeline…</p>;
  return <Chart {...props} lanes={lanes} />;
}

function Chart({ run: whole, lanes, step, range, onStep, onRange }: Props & { lanes: Lanes }) {
  const run = useMemo<Laned>(() => ({ ...whole, ...lanes }), [whole, lanes]);
  const [told, setTold] = useState("");
  const [from, to] = range;
  const steps = run.steps.length;
  const height = HEAD + run.lanes.length * LANE + LIVES;
  const starts = useMemo(() => axis(whole), [whole]);
  const places = useMemo(
    () => Float64Array.from(run.entries.step, (step, i) => place(run, starts, step, run.entries.minor[i])),
    [run, starts],
  );
  const order = useMemo(() => run.pods.key.map((_, i) => i).filter((i) => run.pods.created[i] >= 0), [run]);
  const clamp = (start: number, span: number): [number, number] => {
    const size = Math.min(Math.max(span, 0.5), steps);
    const first = Math.min(Math.max(start, 0), steps - size);
    return [first, first + size];
  };
  const zoom = (factor: number, at: number) => {
    const span = (to - from) * factor;
    onRange(clamp(from + (to - from) * at - span * at, span));
  };
  const pan = (share: number) => onRange(clamp(from + share * (to - from), to - from));
  const pointed = (x: number, width: number) => from + ((x - LEFT) / (width - LEFT)) * (to - from);

  const describe = (x: number, y: number, width: number) => {
    const where = pointed(x, width);
    const lane = Math.floor((y - HEAD) / LANE);
    if (x < LEFT || y < LABELS) return "";
    if (lane < 0) return phaseAt(run, starts, where);
    const near = ((to - from) / (width - LEFT)) * 5;
    if (lane >= run.lanes.length) {
      const row = order[Math.floor(((y - HEAD - run.lanes.length * LANE) / LIVES) * order.length)];
      return row === undefined ? "" : lifeOf(run, row);
    }
    const found: string[] = [];
    let count = 0;
    for (let i = 0; i < places.length; i++) {
      if (run.entries.lane[i] === lane && Math.abs(places[i] - where) < near) {
        count += 1;
        if (found.length < 3) found.push(`${run.verbs[run.entries.verb[i]]} ${run.entries.what[i]}`);
      }
    }
    return count > 3 ? `${found.join("; ")} and ${count - 3} more` : found.join("; ");
  };

  return (
    <section aria-labelledby="timeline-title">
      <h2 id="timeline-title">Timeline</h2>
      <div className="tools">
        <button onClick={() => zoom(0.5, 0.5)}>Zoom in</button>
        <button onClick={() => zoom(2, 0.5)}>Zoom out</button>
        <button onClick={() => pan(-0.5)} aria-label="Earlier">←</button>
        <button onClick={() => pan(0.5)} aria-label="Later">→</button>
        <button onClick={() => onRange([0, steps])}>All steps</button>
        <span className="hint">drag to pan, shift + wheel to zoom, click to choose a step</span>
      </div>
      <Canvas
        height={height}
        label={`Timeline of ${counted(steps, "step")} with ${run.entries.step.length} entries`}
        draw={(context, width) => paint(context, width, run, starts, places, order, range, step)}
        onPoint={(x, y, width) => setTold(describe(x, y, width))}
        onLeave={() => setTold("")}
        onPick={(x, _, width) => {
          if (x >= LEFT) onStep(stepAt(starts, pointed(x, width))[0]);
        }}
        onZoom={zoom}
        onPan={pan}
        onKey={(event) => {
          if (event.key === "ArrowLeft") onStep(Math.max(0, step - 1));
          else if (event.key === "ArrowRight") onStep(Math.min(steps - 1, step + 1));
          else if (event.key === "+") zoom(0.5, 0.5);
          else if (event.key === "-") zoom(2, 0.5);
          else return;
          event.preventDefault();
        }}
      />
      <Key run={run} />
      <p className="told" aria-live="polite">{told || " "}</p>
    </section>
  );
}

/** A step begins with its operations, its first minor step; in each further one a controller acts until it pauses. */
function phaseAt(run: Laned, starts: Float64Array, where: number): string {
  const [index, share] = stepAt(starts, where);
  const step = run.steps[index];
  if (!step) return "";
  const minor = Math.min(step.minors, Math.floor(share * (step.minors + 1)));
  const time = step.time ? `, ${duration(step.time)} after the first` : "";
  return `step ${step.label}, minor step ${minor}: ${run.phases[minor ? 1 : 0]}${time}`;
}

/** What the colours mean. */
function Key({ run }: { run: Laned }) {
  const used = new Set(run.entries.verb);
  const items: [string, string][] = [
    [run.phases[0], KINDS[1]],
    [run.phases[1], KINDS[2]],
    ...run.verbs.flatMap((verb, i): [string, string][] => (used.has(i) ? [[verb, KINDS[i % KINDS.length]]] : [])),
    ["pod waits", KINDS[1]],
    ["pod on a node", KINDS[0]],
  ];
  const titles = ["Phases:", "", "Entries:"];
  return (
    <p className="legend key" aria-label="Legend of the timeline">
      {items.map(([name, colour], i) => (
        <span key={`${name} ${i}`}>
          {titles[i] ? <b>{titles[i]} </b> : i === items.length - 2 ? <b>Pods: </b> : null}
          <i style={{ background: colour, opacity: i < 2 ? 0.5 : 1 }} />
          {name}
        </span>
      ))}
    </p>
  );
}

function lifeOf(run: Laned, i: number): string {
  const { key, created, bound, node, end, preempted, by } = run.pods;
  const label = (index: number) => run.steps[index]?.label ?? "?";
  const parts = [`${key[i]}: created in step ${label(created[i])}`];
  if (bound[i] >= 0) parts.push(`bound in step ${label(bound[i])} to ${run.nodes.name[node[i]] ?? "?"}`);
  if (preempted[i] >= 0) parts.push(`preempted in step ${label(preempted[i])} by ${by[i]}`);
  else if (end[i] >= 0) parts.push(`gone in step ${label(end[i])}`);
  return parts.join(", ");
}

function paint(
  context: CanvasRenderingContext2D,
  width: number,
  run: Laned,
  starts: Float64Array,
  places: Float64Array,
  order: number[],
  [from, to]: [number, number],
  step: number,
) {
  const scale = (width - LEFT) / (to - from);
  const x = (position: number) => LEFT + (position - from) * scale;
  const bottom = HEAD + run.lanes.length * LANE;
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.save();
  context.beginPath();
  context.rect(LEFT, 0, width - LEFT, bottom + LIVES);
  context.clip();
  context.fillStyle = themed("--chosen");
  context.fillRect(x(starts[step]), 0, x(starts[step + 1]) - x(starts[step]), bottom + LIVES);
  let free = -Infinity;
  context.fillStyle = themed("--text");
  context.strokeStyle = themed("--line");
  for (let i = 0; i < run.steps.length; i++) {
    if (starts[i + 1] < from || starts[i] > to) continue;
    const left = x(starts[i]);
    paintPhases(context, run, i, (share) => x(at(starts, i, share)));
    context.fillStyle = themed("--text");
    const time = run.steps[i].time ? `+${duration(run.steps[i].time)}` : "";
    const end = left + 3 + Math.max(context.measureText(run.steps[i].label).width, context.measureText(time).width);
    if (left < free || (end > width && free > -Infinity)) continue;
    free = Math.max(left + 46, end + 8);
    context.beginPath();
    context.moveTo(left, 2);
    context.lineTo(left, bottom + LIVES);
    context.stroke();
    context.fillText(run.steps[i].label, left + 3, 10);
    context.fillText(time, left + 3, 25);
  }
  for (let i = 0; i < places.length; i++) {
    if (places[i] < from - 1 || places[i] > to) continue;
    context.fillStyle = KINDS[run.entries.verb[i] % KINDS.length];
    context.fillRect(x(places[i]), HEAD + run.entries.lane[i] * LANE + 4, Math.max(2, Math.min(6, scale / 20)), LANE - 8);
  }
  paintLives(context, run, starts, order, x, bottom, from, to);
  context.restore();
  context.fillStyle = themed("--text");
  run.lanes.forEach((lane, i) => context.fillText(lane, 0, HEAD + (i + 0.5) * LANE, LEFT - 6));
  context.fillText("step", 0, 10);
  if (run.steps.some((each) => each.time)) context.fillText("time", 0, 25);
  context.fillText("phases", 0, LABELS + BAND / 2);
  context.fillText("pods", 0, bottom + 12);
}

/** The band of one step: its operations, then a box for each minor step; boxes too narrow to tell apart are one. */
function paintPhases(context: CanvasRenderingContext2D, run: Laned, step: number, x: (share: number) => number) {
  const slots = run.steps[step].minors + 1;
  const slot = (x(1) - x(0)) / slots;
  const boxes = slot > 3 ? slots : Math.min(slots, 2);
  for (let box = 0; box < boxes; box++) {
    const left = x(0) + box * slot;
    const width = box === boxes - 1 ? x(1) - left : slot;
    context.globalAlpha = 0.35;
    context.fillStyle = box ? KINDS[2] : KINDS[1];
    context.fillRect(left, LABELS, width > 3 ? width - 1 : width, BAND);
    context.globalAlpha = 1;
    const name = run.phases[box ? 1 : 0];
    if (width > context.measureText(name).width + 8) {
      context.fillStyle = themed("--text");
      context.fillText(name, left + 4, LABELS + BAND / 2);
    }
  }
}

/** One line a pod: orange while it waits, blue while it is bound. */
function paintLives(
  context: CanvasRenderingContext2D,
  run: Laned,
  starts: Float64Array,
  order: number[],
  x: (position: number) => number,
  top: number,
  from: number,
  to: number,
) {
  const { created, bound, end, brought } = run.pods;
  const height = Math.max(1, LIVES / Math.max(order.length, 1));
  order.forEach((pod, i) => {
    // What a snapshot brought was there before the first step.
    const came = brought[pod] ? starts[0] : starts[created[pod]];
    const gone = end[pod] >= 0 ? at(starts, end[pod], 0.95) : starts[run.steps.length];
    if (came > to || gone < from) return;
    const y = top + (i * LIVES) / order.length;
    const start = bound[pod] < 0 ? gone : brought[pod] && bound[pod] <= created[pod] ? came : at(starts, bound[pod], 0.5);
    if (start > came) {
      context.fillStyle = KINDS[1];
      context.fillRect(x(came), y, Math.max(1, x(start) - x(came)), height);
    }
    if (bound[pod] >= 0) {
      context.fillStyle = KINDS[0];
      context.fillRect(x(start), y, Math.max(1, x(gone) - x(start)), height);
    }
  });
}
