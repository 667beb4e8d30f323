/** Tables of nodes and pods: searched, sorted, and drawn only as far as the eye reaches. */
import { useMemo, useState } from "react";
import type { Run } from "./data";
import { amount, counted, isThere, shows, usage, victims } from "./derive";

const ROW = 30;
const VISIBLE = 14;

export interface Column<T> {
  title: string;
  value: (row: T) => string | number;
  text?: (row: T) => string;
  /** The least width in pixels, and the share of the rest; without it those of a number. */
  width?: [number, number];
}

interface Props<T> {
  label: string;
  rows: T[];
  columns: Column<T>[];
  selected?: (row: T) => boolean;
  onSelect?: (row: T) => void;
}

export function Table<T>({ label, rows, columns, selected, onSelect }: Props<T>) {
  const [sort, setSort] = useState<{ column: number; down: boolean }>({ column: -1, down: false });
  const [top, setTop] = useState(0);
  const sorted = useMemo(() => {
    if (sort.column < 0) return rows;
    const { value } = columns[sort.column];
    const direction = sort.down ? -1 : 1;
    return [...rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return direction * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y)));
    });
  }, [rows, sort, columns]);
  const first = Math.max(0, Math.floor(top / ROW) - 4);
  const shown = sorted.slice(first, first + VISIBLE + 8);
  const widths = columns.map(({ width }, i) => width ?? (i === 0 ? [168, 2] : [84, 1]));
  const grid = { gridTemplateColumns: widths.map(([least, share]) => `minmax(${least}px, ${share}fr)`).join(" ") };
  const least = { minWidth: widths.reduce((sum, [each]) => sum + each, 0) };
  return (
    <div className="table" role="table" aria-label={label} aria-rowcount={rows.length + 1}>
      <div role="rowgroup" style={least}>
        <div role="row" className="row head" style={grid}>
          {columns.map((column, i) => (
            <div
              role="columnheader"
              key={column.title}
              aria-sort={sort.column === i ? (sort.down ? "descending" : "ascending") : "none"}
            >
              <button onClick={() => setSort({ column: i, down: sort.column === i && !sort.down })}>
                {column.title}
                {sort.column === i ? (sort.down ? " ↓" : " ↑") : ""}
              </button>
            </div>
          ))}
        </div>
      </div>
      <div
        role="rowgroup"
        className="body"
        tabIndex={0}
        aria-label={`${label}, rows`}
        style={{ ...least, height: Math.min(sorted.length, VISIBLE) * ROW + 2 }}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      >
        <div role="presentation" style={{ height: first * ROW }} />
        {shown.map((row, i) => (
          <div
            role="row"
            key={first + i}
            aria-rowindex={first + i + 2}
            aria-selected={selected?.(row) || undefined}
            className="row"
            style={grid}
          >
            {columns.map((column, c) => {
              const text = column.text?.(row) ?? String(column.value(row));
              return (
                <div role="cell" key={column.title} title={text}>
                  {c === 0 && onSelect ? <button onClick={() => onSelect(row)}>{text}</button> : text}
                </div>
              );
            })}
          </div>
        ))}
        <div role="presentation" style={{ height: Math.max(0, sorted.length - first - shown.length) * ROW }} />
      </div>
    </div>
  );
}

export function Nodes({ run, step, selected, onSelect }: {
  run: Run;
  step: number;
  selected: string;
  onSelect: (node: string) => void;
}) {
  const rows = useMemo(
    () => run.nodes.name.map((_, i) => i).filter((i) => isThere(run.nodes.from[i], run.nodes.to[i], step)),
    [run, step],
  );
  const used = useMemo(() => run.resources.map((_, r) => usage(run, r, step)), [run, step]);
  const counts = useMemo(() => {
    const found = new Array<number>(run.nodes.name.length).fill(0);
    run.pods.node.forEach((node, i) => {
      if (node >= 0 && isThere(run.pods.bound[i], run.pods.end[i], step)) found[node] += 1;
    });
    return found;
  }, [run, step]);
  const columns = useMemo<Column<number>[]>(
    () => [
      { title: "Node", value: (i) => run.nodes.name[i] },
      { title: "Pods", value: (i) => counts[i] },
      ...run.resources.filter((name) => name !== "pods").map((name) => {
        const r = run.resources.indexOf(name);
        return {
          title: name,
          width: [116, 1] as [number, number],
          value: (i: number) => used[r][i] / (run.nodes.allocatable[r][i] || 1),
          text: (i: number) => `${amount(name, used[r][i])} / ${amount(name, run.nodes.allocatable[r][i])}`,
        };
      }),
    ],
    [run, used, counts],
  );
  return (
    <section aria-labelledby="nodes-title">
      <h2 id="nodes-title">Nodes at step {run.steps[step]?.label}</h2>
      <Table
        label="Nodes"
        rows={rows}
        columns={columns}
        selected={(i) => run.nodes.name[i] === selected}
        onSelect={(i) => onSelect(run.nodes.name[i])}
      />
    </section>
  );
}

const SHOWN: [string, string][] = [
  ["", "all"],
  ["pending", "pending"],
  ["preempted", "preempted"],
  ["preemptors", "preemptors"],
  ["moved", "moved to another node"],
];

export function Pods({ run, search, onSearch, node, show, onShow, selected, onSelect }: {
  run: Run;
  search: string;
  onSearch: (text: string) => void;
  node: string;
  show: string;
  onShow: (show: string) => void;
  selected: number;
  onSelect: (pod: number) => void;
}) {
  const rows = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const { key, owner, node: on } = run.pods;
    return key
      .map((_, i) => i)
      .filter(shows(run, show))
      .filter((i) => {
        const place = run.nodes.name[on[i]] ?? "pending";
        if (node && place !== node) return false;
        const text = `${key[i]} ${owner[i]} ${place}`.toLowerCase();
        return words.every((word) => text.includes(word));
      });
  }, [run, search, node, show]);
  const counts = useMemo(
    () => new Map(SHOWN.map(([name]) => {
      const isShown = shows(run, name);
      return [name, run.pods.key.filter((_, i) => isShown(i)).length];
    })),
    [run],
  );
  const columns = useMemo<Column<number>[]>(() => {
    const label = (index: number) => (index < 0 ? "" : (run.steps[index]?.label ?? ""));
    const { key, node: on, created, bound, attempts, waited, preempted, by } = run.pods;
    const displaced = victims(run);
    const preemption = (i: number) => {
      const gone = displaced.get(i)?.map((victim) => key[victim]);
      if (by[i]) return `by ${by[i]}`;
      if (preempted[i] >= 0) return "yes";
      const own = key[i].slice(0, key[i].indexOf("/") + 1);
      const names = gone?.map((name) => (name.startsWith(own) ? name.slice(own.length) : name));
      return names ? `preempted ${names.length}: ${names.join(", ")}` : "";
    };
    return [
      { title: "Pod", value: (i) => key[i] },
      { title: "Node", value: (i) => run.nodes.name[on[i]] ?? "", width: [116, 2] },
      { title: "Created", value: (i) => created[i], text: (i) => label(created[i]) },
      { title: "Bound", value: (i) => bound[i], text: (i) => label(bound[i]) },
      { title: "Attempts", value: (i) => attempts[i] },
      { title: "Waited", value: (i) => waited[i], text: (i) => (waited[i] < 0 ? "" : counted(waited[i], "step")) },
      { title: "Preemption", value: (i) => preemption(i), text: preemption, width: [200, 4] },
    ];
  }, [run]);
  return (
    <section aria-labelledby="pods-title">
      <h2 id="pods-title">Pods {node ? `on ${node}` : ""}</h2>
      <div className="tools">
        <label className="search">
          Search pods{" "}
          <input type="search" value={search} onChange={(event) => onSearch(event.target.value)} placeholder="name, owner or node" />
        </label>
        <div role="group" aria-label="Show" className="chips">
          {SHOWN.map(([name, text]) => (
            <button
              key={name}
              aria-pressed={show === name}
              disabled={!counts.get(name) && show !== name}
              onClick={() => onShow(name)}
            >
              {text} {counts.get(name)}
            </button>
          ))}
        </div>
      </div>
      <p className="hint">{rows.length} of {run.pods.key.length} pods</p>
      <Table
        label="Pods"
        rows={rows}
        columns={columns}
        selected={(i) => i === selected}
        onSelect={onSelect}
      />
    </section>
  );
}
