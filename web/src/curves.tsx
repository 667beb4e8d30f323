/** Curves over steps, with a mark at the chosen one; several charts follow one cursor. */
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
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

/** As many of the marks as there is room for. */
function thinned(marks: number[], room: number): number[] {
  const every = Math.max(1, Math.ceil(marks.length / Math.max(1, room)));
  return marks.filter((_, i) => i % every === 0);
}

export function Curves({ title, unit, labels, places, curves, step, onStep }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const chosen = useRef(step);
  chosen.current = step;

  useEffect(() => {
    const axis = { stroke: themed("--text"), grid: { stroke: themed("--line") }, ticks: { stroke: themed("--line") } };
    const options: uPlot.Options = {
      width: box.current!.clientWidth,
      height: 190,
      scales: { x: { time: false } },
      cursor: { sync: { key: "steps" } },
      axes: [
        {
          ...axis,
          splits: (plot) => thinned(labels.map((_, i) => places[i]), plot.bbox.width / devicePixelRatio / 44),
          values: (_, marks) => marks.map((mark) => labels.findIndex((_, i) => places[i] === mark)).map((i) => labels[i] ?? ""),
        },
        { ...axis, values: (_, marks) => marks.map((mark) => `${mark}${unit}`) },
      ],
      series: [
        { label: "step", value: (_, place, __, index) => (place == null || index == null ? "" : (labels[index] ?? "")) },
        ...curves.map((curve, i) => ({
          label: curve.name,
          stroke: curve.isBar ? KINDS[5] : KINDS[i % KINDS.length],
          width: curve.isBar ? 0 : 1.5,
          fill: curve.isBar ? KINDS[5] : undefined,
          dash: i % 2 && !curve.isBar ? [6, 3] : undefined,
          // A level lasts until the end of the next step; a count belongs to its step alone.
          paths: curve.isBar ? uPlot.paths.bars!({ size: [0.6, 24], align: -1 }) : uPlot.paths.stepped!({ align: -1 }),
          points: { show: !curve.isBar && labels.length < 60 },
          value: (_: uPlot, value: number | null) => (value == null ? "" : `${Math.round(value * 10) / 10}${unit}`),
        })),
      ],
      hooks: {
        // Without a pointer over the chart the legend has the values of the chosen step.
        setLegend: [(plot) => plot.legend.idx == null && plot.setLegend({ idx: chosen.current }, false)],
        draw: [
          (plot) => {
            const x = plot.valToPos(places[chosen.current], "x", true);
            plot.ctx.save();
            plot.ctx.strokeStyle = themed("--accent");
            plot.ctx.beginPath();
            plot.ctx.moveTo(x, plot.bbox.top);
            plot.ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
            plot.ctx.stroke();
            plot.ctx.restore();
          },
        ],
      },
    };
    const plot = new uPlot(options, [labels.map((_, i) => places[i]), ...curves.map((curve) => curve.values)], box.current!);
    chart.current = plot;
    plot.setLegend({ idx: chosen.current });
    const pick = () => {
      if (plot.cursor.idx != null) onStep(plot.cursor.idx);
    };
    plot.over.addEventListener("click", pick);
    const observer = new ResizeObserver(() => plot.setSize({ width: box.current!.clientWidth, height: 190 }));
    observer.observe(box.current!);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [labels, places, curves, unit]);

  useEffect(() => {
    chart.current?.redraw(false);
    chart.current?.setLegend({ idx: step });
  }, [step]);

  return (
    <figure className="curves">
      <figcaption>{title}</figcaption>
      <div ref={box} role="img" aria-label={`${title} over ${counted(labels.length - Number(labels[0] === "before"), "step")}`} />
    </figure>
  );
}
