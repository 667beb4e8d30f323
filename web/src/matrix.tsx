/** Nodes by plugins: verdict, raw, normalised, weight and final score; only the rows in sight are in the document. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import { Choice } from "./choice";
import type { Cells } from "./data";
import { pluginOf, reasonOf, type Row } from "./decision";
import { whole } from "./derive";
import { commonSuffix, Name, withoutSuffix } from "./names";

const ROW = 28;
const NARROW = 480;

interface Props {
  cells: Cells;
  rows: Row[];
  winner: string;
  /** The filter whose rejections are shown alone. */
  plugin: string;
  onPlugin: (plugin: string) => void;
  pinned: string[];
  onPin: (nodes: string[]) => void;
  isWide?: boolean;
}

type Sort = { by: string; isDown: boolean };

export function Matrix({ cells, rows, winner, plugin, onPlugin, pinned, onPin, isWide }: Props) {
  const [sort, setSort] = useState<Sort>({ by: "", isDown: true });
  const [text, setText] = useState("");
  const scroller = useRef<HTMLDivElement>(null);
  const suffix = useMemo(() => commonSuffix(rows.map((row) => row.node)), [rows]);
  const best = useMemo(() => rows.reduce((most, row) => Math.max(most, row.total), -Infinity), [rows]);
  const shown = useMemo(() => {
    const wanted = rows.filter(
      (row) => (!plugin || (row.verdict > 0 && pluginOf(cells, row.verdict) === plugin)) && row.node.includes(text.trim()),
    );
    if (sort.by) {
      const p = cells.plugins.indexOf(sort.by);
      const value = (row: Row): number => (p >= 0 ? (row.column < 0 ? -Infinity : cells.normalized[p][row.column]) : row.total);
      const direction = sort.isDown ? -1 : 1;
      wanted.sort((a, b) => direction * (sort.by === "node" ? a.node.localeCompare(b.node) : value(a) - value(b)));
    }
    const isPinned = new Set(pinned);
    return [...wanted.filter((row) => isPinned.has(row.node)), ...wanted.filter((row) => !isPinned.has(row.node))];
  }, [rows, plugin, text, sort, pinned, cells]);
  const virtual = useVirtualizer({ count: shown.length, getScrollElement: () => scroller.current, estimateSize: () => ROW, overscan: 6 });
  const rejected = rows.filter((row) => row.column < 0).length;
  const [narrow, setNarrow] = useState(false);
  const [single, setSingle] = useState("");
  // Before the first paint, or columns that there is no room for would show for a moment.
  useLayoutEffect(() => {
    setNarrow(scroller.current!.clientWidth < NARROW);
    const observer = new ResizeObserver(([{ contentRect }]) => setNarrow(contentRect.width < NARROW));
    observer.observe(scroller.current!);
    return () => observer.disconnect();
  }, []);
  const hasScores = cells.plugins.length > 0;
  // On a phone there is room for one plugin at a time.
  const chosen = cells.plugins.includes(single) ? single : cells.plugins[0];
  const plugins = cells.plugins.map((name, p) => ({ name, p })).filter(({ name }) => !narrow || name === chosen);
  const columns = [
    { key: "node", title: "Node", width: narrow ? 124 : 176 },
    { key: "total", title: hasScores ? "Total" : "Verdict", width: hasScores ? (narrow ? 84 : 116) : 140 },
    ...plugins.map(({ name, p }) => ({ key: name, title: narrow ? `× ${cells.weights[p]}` : `${name} × ${cells.weights[p]}`, width: narrow ? 124 : Math.max(124, Math.ceil(7.7 * (name.length + 4)) + 20) })),
  ];
  const width = columns.reduce((sum, column) => sum + column.width, 0);
  const grid = { gridTemplateColumns: columns.map((column, i) => (i === columns.length - 1 ? `minmax(${column.width}px, 1fr)` : `${column.width}px`)).join(" "), minWidth: width };
  return (
    <div className="matrix">
      <h3>Nodes and plugins</h3>
      <div className="tools">
        <label>Find node <input type="search" value={text} onChange={(event) => setText(event.target.value)} /></label>
        {narrow && hasScores && <Choice label="Score of" value={chosen} options={cells.plugins.map((name): [string, string] => [name, name])} onChange={setSingle} />}
        {plugin && <button type="button" onClick={() => onPlugin("")}>rejected by {plugin} ✕</button>}
        <span className="hint">{whole(shown.length)} of {whole(rows.length)} nodes; {whole(rows.length - rejected)} passed, {whole(rejected)} rejected</span>
      </div>
      {!hasScores && (
        <p className="hint">{cells.feasible.length === 1 ? "One node passed, so nothing was scored." : cells.feasible.length === 0 ? "No node passed the filters, so nothing was scored." : "Nothing was scored."}</p>
      )}
      <div className="grid" ref={scroller} tabIndex={0} role="table" aria-label="Nodes and plugins" aria-rowcount={shown.length + 1} style={{ maxHeight: isWide ? 560 : 360 }}>
        <div role="rowgroup">
          <div role="row" className="grid-row head" style={grid}>
            {columns.map((column) => (
              <div role="columnheader" key={column.key} className={column.title === "Verdict" ? "verdict-cell" : undefined} aria-sort={sort.by === column.key ? (sort.isDown ? "descending" : "ascending") : "none"}>
                <button type="button" onClick={() => setSort({ by: column.key, isDown: sort.by === column.key ? !sort.isDown : true })} title={column.title}>
                  {column.title}{sort.by === column.key ? (sort.isDown ? " ↓" : " ↑") : ""}
                </button>
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: "relative", minWidth: width }}>
          {virtual.getVirtualItems().map((item) => {
            const row = shown[item.index];
            const isPinned = pinned.includes(row.node);
            const mark = row.node === winner ? " ★" : row.column >= 0 && row.total === best && hasScores ? " tied" : "";
            return (
              <div
                role="row"
                key={row.node}
                aria-rowindex={item.index + 2}
                className={`grid-row${row.node === winner ? " winner" : ""}${mark === " tied" ? " tied" : ""}${row.column < 0 ? " rejected" : ""}${isPinned ? " pinned" : ""}`}
                style={{ ...grid, transform: `translateY(${item.start}px)` }}
              >
                <div role="rowheader">
                  <button type="button" aria-pressed={isPinned} title={`${row.node}: ${isPinned ? "unpin" : "pin, to compare"}`} onClick={() => onPin(isPinned ? pinned.filter((node) => node !== row.node) : [...pinned, row.node].slice(-2))}>
                    <Name text={withoutSuffix(row.node, suffix)} /><span className="mark">{mark}</span>
                  </button>
                </div>
                {row.column < 0 ? (
                  <div role="cell" className="verdict-cell" style={{ gridColumn: "2 / -1" }} title={reasonOf(cells, row.verdict)}>
                    {pluginOf(cells, row.verdict)}: {reasonOf(cells, row.verdict)}
                  </div>
                ) : (
                  <>
                    <div role="cell">{hasScores ? <><b>{whole(row.total)}</b> <span className="hint">{row.total === best ? "best" : `−${whole(best - row.total)}`}</span></> : "passed"}</div>
                    {plugins.map(({ name, p }) => {
                      const [raw, normal, weight] = [cells.raw[p][row.column], cells.normalized[p][row.column], cells.weights[p]];
                      return (
                        <div role="cell" key={name} title={`${name}: raw ${raw}, normalised ${normal}, weight ${weight}, final ${normal * weight}`}>
                          {whole(raw)} → {whole(normal)} → <b>{whole(normal * weight)}</b>
                        </div>
                      );
                    })}
                  </>
                )}
              </div>
            );
          })}
        </div>
      </div>
      {hasScores && <p className="hint">Cells: raw → normalised → final (× weight). ★ chosen; tied: the same total as the best.</p>}
    </div>
  );
}
