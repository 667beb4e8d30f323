/** Tables of nodes, pods and workloads: searched, sorted, and drawn only as far as the eye reaches. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { ENDED } from "./data";
import { amount, counted, shows, victims, whole } from "./derive";
import { commonSuffix, Name, withoutSuffix } from "./names";
import { type Player, usePlayer } from "./player";
import { OVER, PLACED, type Replay } from "./replay";
import type { Run } from "./run";

const ROW = 32;
/** The body of a table is as tall as the window leaves it, and never lower than this. */
const LEAST = 10 * ROW;

export interface Column<T> {
  title: string;
  value: (row: T) => string | number;
  text?: (row: T) => string;
  /** The least width in pixels, and the share of the rest; without it those of a number. */
  width?: [number, number];
  isName?: boolean;
  /** Whether the names are those of machines: what all end with is left out. */
  isHost?: boolean;
}

interface Props<T> {
  label: string;
  rows: T[];
  columns: Column<T>[];
  selected?: (row: T) => boolean;
  onSelect?: (row: T) => void;
  empty?: string;
}

export function Table<T>({ label, rows, columns, selected, onSelect, empty }: Props<T>) {
  const [sort, setSort] = useState<{ column: number; down: boolean }>({ column: -1, down: false });
  const body = useRef<HTMLDivElement>(null);
  const sorted = useMemo(() => {
    if (sort.column < 0) return rows;
    const { value } = columns[sort.column];
    const direction = sort.down ? -1 : 1;
    return [...rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return direction * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y)));
    });
  }, [rows, sort, columns]);
  // A title is never cut, unless it is a text of its own.
  const widths = columns.map(({ width, title }, i) => width ?? (i === 0 ? [168, 3] : [widthOf(title), 1]));
  const grid = { gridTemplateColumns: widths.map(([least, share]) => `minmax(${least}px, ${share}fr)`).join(" ") };
  const least = widths.reduce((sum, [each]) => sum + each, 0);
  const [box, hasRoom] = useRoom(least);
  const virtual = useVirtualizer({ count: sorted.length, getScrollElement: () => body.current, estimateSize: () => (hasRoom ? ROW : 2 * ROW), overscan: 8 });
  useEffect(() => virtual.measure(), [hasRoom]);
  const suffixes = useMemo(() => columns.map(({ isHost, value }) => (isHost ? commonSuffix(rows.map((row) => String(value(row))).filter((name) => name && name !== "<none>")) : "")), [rows, columns]);
  if (!rows.length && empty) return <p className="hint empty">{empty}</p>;
  return (
    <div className={hasRoom ? "table" : "table as-cards"} role="table" aria-label={label} aria-rowcount={rows.length + 1} ref={box}>
      <div role="rowgroup">
        <div role="row" className="row head" style={hasRoom ? grid : undefined}>
          {columns.map((column, i) => (
            <div role="columnheader" key={column.title} aria-sort={sort.column === i ? (sort.down ? "descending" : "ascending") : "none"}>
              <button type="button" onClick={() => setSort({ column: i, down: sort.column === i && !sort.down })}>
                {column.title}
                {sort.column === i ? (sort.down ? " ↓" : " ↑") : ""}
              </button>
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="body" tabIndex={0} aria-label={`${label}, rows`} ref={body} style={{ height: `min(${virtual.getTotalSize() + 2}px, max(${LEAST}px, 100dvh - var(--around-table)))` }}>
        <div role="presentation" style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map((item) => {
            const row = sorted[item.index];
            return (
              <div
                role="row"
                key={item.index}
                ref={hasRoom ? undefined : virtual.measureElement}
                data-index={item.index}
                aria-rowindex={item.index + 2}
                aria-selected={selected?.(row) || undefined}
                className="row"
                style={{ ...(hasRoom ? grid : {}), transform: `translateY(${item.start}px)` }}
              >
                {columns.map((column, c) => {
                  const text = column.text?.(row) ?? String(column.value(row));
                  const shown = c === 0 || ((column.isName || column.isHost) && text) ? <Name text={withoutSuffix(text, suffixes[c])} /> : text;
                  return (
                    <div role="cell" key={column.title} title={text} data-title={column.title}>
                      {c === 0 && onSelect ? <button type="button" onClick={() => onSelect(row)}>{shown}</button> : shown}
                    </div>
                  );
                })}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Pixels that the title of a column needs. */
export function widthOf(title: string): number {
  return Math.min(200, Math.max(84, 28 + 9 * title.length));
}

/** Whether a box is as wide as its content wants at least: a table that is not becomes cards. */
function useRoom(least: number): [(element: HTMLElement | null) => (() => void) | undefined, boolean] {
  const [width, setWidth] = useState(Infinity);
  const [watch] = useState(() => (element: HTMLElement | null) => {
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    setWidth(element.clientWidth);
    observer.observe(element);
    return () => observer.disconnect();
  });
  return [watch, width >= least];
}

export function Nodes({ player, selected, onSelect }: { player: Player; selected: string; onSelect: (node: string) => void }) {
  usePlayer(player);
  const { run } = player;
  const replay = player.replays[0];
  const { tick } = replay;
  const rows = useMemo(() => run.nodes.name.map((_, i) => i).filter((i) => replay.there[i]), [run, replay, tick]);
  const columns = useMemo<Column<number>[]>(
    () => [
      { title: "Node", value: (i) => run.nodes.name[i], isHost: true },
      { title: "Pods", value: (i) => replay.pods[i], text: (i) => whole(replay.pods[i]) },
      ...run.resources.filter((name) => name !== "pods").map((name) => {
        const r = run.resources.indexOf(name);
        return {
          title: name,
          width: [116, 1] as [number, number],
          value: (i: number) => replay.used[r][i] / (run.nodes.allocatable[r][i] || 1),
          text: (i: number) => `${amount(name, replay.used[r][i])} / ${amount(name, run.nodes.allocatable[r][i])}`,
        };
      }),
      ...(run.nodes.taints.some((each) => each.length) ? [{ title: "Taints", value: (i: number) => run.nodes.taints[i].join(", "), width: [120, 2] as [number, number] }] : []),
    ],
    [run, replay, tick],
  );
  const where = player.step < 0 ? "before the first step" : `at step ${run.steps[player.step].label}`;
  return (
    <section aria-labelledby="nodes-title">
      <h2 id="nodes-title">Nodes {where}</h2>
      <p className="hint">The table follows the cursor of the bar below.</p>
      <Table
        label="Nodes"
        rows={rows}
        columns={columns}
        selected={(i) => run.nodes.name[i] === selected}
        onSelect={(i) => onSelect(run.nodes.name[i])}
        empty="No node is there at this moment: move the cursor forward."
      />
    </section>
  );
}

interface Workload {
  name: string;
  pods: number[];
}

const STRIPS = 200;

/** Pods by the controller that made them; pods without one are one row a namespace. */
export function Workloads({ player, replay, onOpen }: { player: Player; replay: Replay; onOpen: (search: string) => void }) {
  usePlayer(player);
  const { run } = player;
  const [open, setOpen] = useState("");
  const rows = useMemo(() => {
    const found = new Map<string, Workload>();
    run.pods.key.forEach((key, i) => {
      const namespace = key.slice(0, key.indexOf("/"));
      const name = run.pods.owner[i] ? `${namespace}/${run.pods.owner[i]}` : `${namespace}/(pods without a controller)`;
      const workload = found.get(name) ?? { name, pods: [] };
      workload.pods.push(i);
      found.set(name, workload);
    });
    return [...found.values()].sort((a, b) => b.pods.length - a.pods.length || a.name.localeCompare(b.name));
  }, [run]);
  const { tick } = replay;
  const columns = useMemo<Column<Workload>[]>(() => {
    const count = (wanted: (pod: number) => boolean) => (workload: Workload) => workload.pods.filter(wanted).length;
    const of = (title: string, wanted: (pod: number) => boolean): Column<Workload> => ({ title, value: count(wanted), text: (row) => whole(count(wanted)(row)) });
    return [
      { title: "Workload", value: (row) => row.name },
      { title: "Pods", value: (row) => row.pods.length, text: (row) => whole(row.pods.length) },
      of("On nodes", (pod) => replay.state[pod] === PLACED),
      of("Waiting", (pod) => replay.isWaiting(pod)),
      of("Ended", (pod) => replay.state[pod] === OVER),
      of("Preempted", (pod) => run.pods.preempted[pod] >= 0),
    ];
  }, [run, replay, tick]);
  const chosen = rows.find((row) => row.name === open);
  return (
    <section aria-labelledby="workloads-title">
      <h2 id="workloads-title">Workloads</h2>
      <Table label="Workloads" rows={rows} columns={columns} selected={(row) => row.name === open} onSelect={(row) => setOpen(row.name === open ? "" : row.name)} empty="This run has no pods." />
      {chosen && <Strips run={run} player={player} workload={chosen} onOpen={onOpen} />}
    </section>
  );
}

/** The pods of a workload over the run, a line each: amber while it waits, blue on a node. */
function Strips({ run, player, workload, onOpen }: { run: Run; player: Player; workload: Workload; onOpen: (search: string) => void }) {
  const shown = workload.pods.slice(0, STRIPS);
  const span = Math.max(1, player.end - player.start);
  const share = (tick: number) => `${(100 * (Math.min(Math.max(tick, player.start), player.end) - player.start)) / span}%`;
  const ends = useMemo(() => endTicks(run), [run]);
  return (
    <div className="strips">
      <h3>{workload.name}: {counted(workload.pods.length, "pod")} over the run</h3>
      <button type="button" onClick={() => onOpen(workload.name.slice(workload.name.indexOf("/") + 1).replace(/^\(.*/, ""))}>Show them in the table of pods</button>
      <p className="legend"><span><i className="waits" />waits</span><span><i className="placed" />on a node</span></p>
      {shown.map((pod) => {
        const end = ends[pod] > 0 ? ends[pod] : player.end;
        const bound = run.boundTick[pod] > 0 ? run.boundTick[pod] : end;
        return (
          <div key={pod} className="strip">
            <Name text={run.pods.key[pod].slice(run.pods.key[pod].indexOf("/") + 1)} />
            <svg role="img" aria-label={`${run.pods.key[pod]}: waiting, then on ${run.nodes.name[run.pods.node[pod]] ?? "no node"}`} preserveAspectRatio="none">
              <rect className="waits" x={share(run.createdTick[pod])} width={`calc(${share(bound)} - ${share(run.createdTick[pod])})`} height="100%" />
              {run.boundTick[pod] > 0 && <rect className="placed" x={share(bound)} style={{ width: `calc(${share(end)} - ${share(bound)})` }} height="100%" />}
            </svg>
          </div>
        );
      })}
      {workload.pods.length > STRIPS && <p className="hint">{counted(workload.pods.length - STRIPS, "more pod")}: the table of pods has them all.</p>}
    </div>
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
    const hasReasons = run.reasons.size > 0;
    const hasPreemptions = preempted.some((at) => at >= 0);
    return [
      { title: "Pod", value: (i) => key[i], width: [168, 4] },
      { title: "Node", value: (i) => run.nodes.name[on[i]] ?? "", width: [116, 2], isHost: true },
      ...(hasReasons ? [{ title: "Why it waits", value: (i: number) => run.reasons.get(i) ?? "", width: [180, 3] as [number, number] }] : []),
      { title: "Created", value: (i) => created[i], text: (i) => label(created[i]) },
      { title: "Bound", value: (i) => bound[i], text: (i) => label(bound[i]) },
      { title: "Attempts", value: (i) => attempts[i] },
      { title: "Waited", value: (i) => waited[i], text: (i) => (waited[i] < 0 ? "" : counted(waited[i], "step")) },
      ...(hasPreemptions ? [{ title: "Preemption", value: preemption, text: preemption, width: [200, 3] as [number, number] }] : []),
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
              {text} {whole(counts.get(name) ?? 0)}
            </button>
          ))}
        </div>
      </div>
      <p className="hint">{whole(rows.length)} of {whole(run.pods.key.length)} pods</p>
      <Table
        label="Pods"
        rows={rows}
        columns={columns}
        selected={(i) => i === selected}
        onSelect={onSelect}
        empty="No pod is like that. Clear the search or choose another filter."
      />
    </section>
  );
}

/** How many changes have happened when each pod ended; 0: it did not. */
function endTicks(run: Run): Int32Array {
  const ends = new Int32Array(run.pods.key.length);
  for (let i = 0; i < run.changes.kind.length; i++) if (run.changes.kind[i] === ENDED) ends[run.changes.what[i]] = i + 1;
  return ends;
}
