/** Steps from left to right with their phases; lanes for operations, each controller, and the pods' lives. Zoom and pan. */
import { useMemo, useState } from "react";
import { Canvas } from "./canvas";
import { KINDS, themed } from "./colours";
import type { Run } from "./data";

const LANE = 22;
const LABELS = 24;
const BAND = 18;
const HEAD = LABELS + BAND + 4;
const LIVES = 150;
const LEFT = 120;

interface Props {
  run: Run;
  step: number;
  range: [number, number];
  onStep: (step: number) => void;
  onRange: (range: [number, number]) => void;
}

/** Where an entry stands on the axis of steps. */
function place(run: Run, step: number, minor: number): number {
  return step + Math.min(0.98, minor / (run.steps[step].minors + 1));
}

export function Timeline({ run, step, range, onStep, onRange }: Props) {
  const [told, setTold] = useState("");
  const [from, to] = range;
  const steps = run.steps.length;
  const height = HEAD + run.lanes.length * LANE + LIVES;
  const places = useMemo(
    () => Float64Array.from(run.entries.step, (at, i) => place(run, at, run.entries.minor[i])),
    [run],
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
  const at = (x: number, width: number) => from + ((x - LEFT) / (width - LEFT)) * (to - from);

  const describe = (x: number, y: number, width: number) => {
    const where = at(x, width);
    const lane = Math.floor((y - HEAD) / LANE);
    if (x < LEFT || y < LABELS) return "";
    if (lane < 0) return phaseAt(run, where);
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
        label={`Timeline of ${steps} steps with ${run.entries.step.length} entries`}
        draw={(context, width) => paint(context, width, run, places, order, range, step)}
        onPoint={(x, y, width) => setTold(describe(x, y, width))}
        onLeave={() => setTold("")}
        onPick={(x, _, width) => {
          if (x >= LEFT) onStep(Math.min(steps - 1, Math.max(0, Math.floor(at(x, width)))));
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
      <p className="told" aria-live="polite">{told || " "}</p>
    </section>
  );
}

/** A step begins with its operations, its first minor step; in each further one a controller acts until it pauses. */
function phaseAt(run: Run, where: number): string {
  const step = run.steps[Math.floor(where)];
  if (!step) return "";
  const minor = Math.min(step.minors, Math.floor((where - Math.floor(where)) * (step.minors + 1)));
  return `step ${step.label}, minor step ${minor}: ${run.phases[minor ? 1 : 0]}`;
}

function lifeOf(run: Run, i: number): string {
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
  run: Run,
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
  context.fillRect(x(step), 0, scale, bottom + LIVES);
  const every = Math.max(1, Math.ceil(46 / scale));
  context.fillStyle = themed("--text");
  context.strokeStyle = themed("--line");
  for (let i = Math.max(0, Math.floor(from)); i < Math.min(run.steps.length, Math.ceil(to)); i++) {
    if (scale > 6 || i % every === 0) {
      context.beginPath();
      context.moveTo(x(i), LABELS - 6);
      context.lineTo(x(i), bottom + LIVES);
      context.stroke();
    }
    if (i % every === 0) context.fillText(run.steps[i].label, x(i) + 3, LABELS / 2);
    paintPhases(context, run, i, x);
    context.fillStyle = themed("--text");
  }
  for (let i = 0; i < places.length; i++) {
    if (places[i] < from - 1 || places[i] > to) continue;
    context.fillStyle = KINDS[run.entries.verb[i] % KINDS.length];
    context.fillRect(x(places[i]), HEAD + run.entries.lane[i] * LANE + 4, Math.max(2, Math.min(6, scale / 20)), LANE - 8);
  }
  paintLives(context, run, order, x, bottom, from, to);
  context.restore();
  context.fillStyle = themed("--text");
  run.lanes.forEach((lane, i) => context.fillText(lane, 0, HEAD + (i + 0.5) * LANE, LEFT - 6));
  context.fillText("phases", 0, LABELS + BAND / 2);
  context.fillText("pods", 0, bottom + 12);
}

/** The band of one step: its operations, then a box for each minor step; boxes too narrow to tell apart are one. */
function paintPhases(context: CanvasRenderingContext2D, run: Run, step: number, x: (position: number) => number) {
  const slots = run.steps[step].minors + 1;
  const slot = (x(step + 1) - x(step)) / slots;
  const boxes = slot > 3 ? slots : Math.min(slots, 2);
  for (let box = 0; box < boxes; box++) {
    const left = x(step) + box * slot;
    const width = box === boxes - 1 ? x(step + 1) - left : slot;
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

/** One line a pod: grey while it waits, blue while it is bound. */
function paintLives(
  context: CanvasRenderingContext2D,
  run: Run,
  order: number[],
  x: (position: number) => number,
  top: number,
  from: number,
  to: number,
) {
  const { created, bound, end } = run.pods;
  const height = Math.max(1, LIVES / Math.max(order.length, 1));
  order.forEach((pod, i) => {
    const gone = end[pod] >= 0 ? end[pod] + 0.95 : run.steps.length;
    if (created[pod] > to || gone < from) return;
    const y = top + (i * LIVES) / order.length;
    const start = bound[pod] >= 0 ? bound[pod] + 0.5 : gone;
    context.fillStyle = KINDS[1];
    context.fillRect(x(created[pod]), y, Math.max(1, x(start) - x(created[pod])), height);
    if (bound[pod] >= 0) {
      context.fillStyle = KINDS[0];
      context.fillRect(x(start), y, Math.max(1, x(gone) - x(start)), height);
    }
  });
}
