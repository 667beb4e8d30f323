/** One square a node, coloured by how much of a resource is requested, in groups of a label's values. */
import { useMemo, useState } from "react";
import { Canvas } from "./canvas";
import { contrast, shade, themed } from "./colours";
import type { Run } from "./data";
import { amount, counted, fractions, groupNodes, usage } from "./derive";

interface Props {
  run: Run;
  resource: number;
  step: number;
  group: string;
  selected?: string;
  onSelect?: (node: string) => void;
  /** Another run: colours then show this run's share minus the other's. */
  against?: Run;
}

interface Cell {
  row: number;
  x: number;
  y: number;
}

function layout(run: Run, group: string, width: number) {
  const groups = groupNodes(run, group);
  const count = run.nodes.name.length;
  const size = Math.max(3, Math.min(26, Math.floor(Math.sqrt((width * 260) / Math.max(count, 1)))));
  const across = Math.max(1, Math.floor(width / size));
  const cells: Cell[] = [];
  const titles: { name: string; y: number }[] = [];
  let y = 0;
  for (const { name, rows } of groups) {
    titles.push({ name: `${name} (${rows.length})`, y });
    y += 18;
    rows.forEach((row, i) => cells.push({ row, x: (i % across) * size, y: y + Math.floor(i / across) * size }));
    y += Math.ceil(rows.length / across) * size + 8;
  }
  return { cells, titles, size, height: Math.max(40, y) };
}

export function HeatMap({ run, resource, step, group, selected, onSelect, against }: Props) {
  const [hovered, setHovered] = useState(-1);
  const shares = useMemo(() => fractions(run, resource, step), [run, resource, step]);
  const used = useMemo(() => usage(run, resource, step), [run, resource, step]);
  const others = useMemo(() => {
    if (!against) return null;
    const theirs = fractions(against, resource, step);
    const rows = new Map(against.nodes.name.map((name, i) => [name, theirs[i]]));
    return run.nodes.name.map((name) => rows.get(name) ?? NaN);
  }, [run, against, resource, step]);
  const plan = useMemo(() => layout(run, group, 760), [run, group]);
  const [width, setWidth] = useState(760);
  const current = useMemo(() => (width === 760 ? plan : layout(run, group, width)), [run, group, width, plan]);
  const find = (x: number, y: number) =>
    current.cells.find((c) => x >= c.x && x < c.x + current.size && y >= c.y && y < c.y + current.size)?.row ?? -1;
  const name = run.resources[resource];
  const told = hovered >= 0 ? hovered : selected ? run.nodes.name.indexOf(selected) : -1;
  return (
    <figure className="heatmap">
      <Canvas
        height={current.height}
        label={`Heat map of ${counted(run.nodes.name.length, "node")} by requested ${name}`}
        draw={(context, w) => {
          if (Math.abs(w - width) > 1) setTimeout(() => setWidth(w));
          context.font = "12px system-ui, sans-serif";
          context.fillStyle = themed("--text");
          for (const title of current.titles) context.fillText(title.name, 0, title.y + 12);
          const gap = current.size > 5 ? 1 : 0;
          for (const { row, x, y } of current.cells) {
            const share = shares[row];
            if (Number.isNaN(share)) {
              context.strokeStyle = themed("--line");
              context.strokeRect(x + 0.5, y + 0.5, current.size - gap - 1, current.size - gap - 1);
              continue;
            }
            context.fillStyle = others ? contrast(2 * (share - (others[row] || 0))) : shade(share);
            context.fillRect(x, y, current.size - gap, current.size - gap);
            if (run.nodes.name[row] === selected || row === hovered) {
              context.strokeStyle = themed("--accent");
              context.lineWidth = 2;
              context.strokeRect(x + 1, y + 1, current.size - gap - 2, current.size - gap - 2);
              context.lineWidth = 1;
            }
          }
        }}
        onPoint={(x, y) => setHovered(find(x, y))}
        onLeave={() => setHovered(-1)}
        onPick={(x, y) => {
          const row = find(x, y);
          if (row >= 0) onSelect?.(run.nodes.name[row]);
        }}
      />
      <figcaption>
        <Legend isDifference={!!against} />
        <span aria-live="polite">
          {told >= 0
            ? `${run.nodes.name[told]}: ${amount(name, used[told])} of ${amount(name, run.nodes.allocatable[resource][told])} ${name} requested`
            : "Point at a square for its node"}
        </span>
      </figcaption>
    </figure>
  );
}

function Legend({ isDifference }: { isDifference: boolean }) {
  const marks = isDifference ? [-0.5, -0.25, 0, 0.25, 0.5] : [0, 0.25, 0.5, 0.75, 1];
  return (
    <span className="legend">
      {marks.map((mark) => (
        <span key={mark}>
          <i style={{ background: isDifference ? contrast(2 * mark) : shade(mark) }} />
          {isDifference && mark > 0 ? "+" : ""}
          {Math.round(100 * mark)}%
        </span>
      ))}
    </span>
  );
}
