/** What became of the workloads of a snapshot, in one run and in several, and the nodes that could be switched off. */
import { Fragment, useMemo, useState } from "react";
import { go } from "./address";
import type { FreedPool, WorkloadRow } from "./data";
import { amount, counted, duration, whole } from "./derive";
import { Name } from "./names";
import type { Run } from "./run";

const PAGE = 50;

function nameOf({ namespace, kind, name }: WorkloadRow): string {
  return `${namespace}/${name} (${kind})`;
}

function isWell(row: WorkloadRow): boolean {
  return row.ready_end >= row.wanted;
}

/** Whether the workloads are well, which the phase of a run does not say. */
export function WorkloadsLine({ run }: { run: Run }) {
  if (!run.workloads) return null;
  const { total, rows } = run.workloads;
  const ill = rows.filter((row) => !isWell(row));
  return (
    <p className="verdict-line">
      <a href="#view=workloads" onClick={(event) => {
        event.preventDefault();
        go({ view: "workloads" }, { push: true });
      }}>{ill.length ? `${whole(ill.length)} of ${counted(total, "workload")} not ready` : `All ${counted(total, "workload")} ready`}</a>
      {ill.length > 0 && <>: <Name text={nameOf(ill[0])} /> has {ill[0].ready_end} of {ill[0].wanted}{ill.length > 1 ? `, and ${whole(ill.length - 1)} more` : ""}</>}
    </p>
  );
}

/** As many rows as asked for, and a button for more. */
function useSome<T>(rows: T[]): [T[], React.ReactNode] {
  const [shown, setShown] = useState(PAGE);
  const more = rows.length > shown && <button type="button" onClick={() => setShown(shown + 10 * PAGE)}>Show {whole(Math.min(10 * PAGE, rows.length - shown))} more</button>;
  return [rows.slice(0, shown), more];
}

export function WorkloadsAtEnd({ run }: { run: Run }) {
  const [rows, more] = useSome(run.workloads?.rows ?? []);
  if (!run.workloads) return null;
  const { total, rows: all } = run.workloads;
  return (
    <section aria-labelledby="health-title">
      <h2 id="health-title">Workloads of the snapshot</h2>
      <div className="cards">
        <table>
          <thead>
            <tr>
              <th scope="col">Workload</th><th scope="col">Wanted</th><th scope="col">Ready before</th><th scope="col">Lowest</th><th scope="col">Ready</th>
              <th scope="col">Moved</th><th scope="col">Pending</th><th scope="col">Lost</th><th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={nameOf(row)}>
                <th scope="row"><Name text={nameOf(row)} /></th>
                <td data-run="wanted">{whole(row.wanted)}</td>
                <td data-run="ready before">{row.ready_min === null ? "–" : whole(row.ready_start)}</td>
                <td data-run="lowest">{row.ready_min === null ? "–" : whole(row.ready_min)}{row.ready_min_at !== null && <span className="hint"> after {duration(row.ready_min_at * 1e6)}</span>}</td>
                <td data-run="ready" className={isWell(row) ? undefined : "short"}>{whole(row.ready_end)}</td>
                <td data-run="moved">{whole(row.moved)}</td>
                <td data-run="pending">{whole(row.pending)}</td>
                <td data-run="lost">{whole(row.lost)}</td>
                <td data-run="why" className="why"><bdi>{row.why ?? ""}</bdi></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more}
      {total > all.length && <p className="hint">{counted(total - all.length, "more workload")} to which nothing happened: the measure workloads of the results has them all.</p>}
    </section>
  );
}

/** Workloads that end otherwise in one run than in another, or that are not ready in one of them. */
export function WorkloadsCompared({ runs }: { runs: Run[] }) {
  const sides = useMemo(() => runs.map((run) => new Map((run.workloads?.rows ?? []).map((row) => [nameOf(row), row]))), [runs]);
  const names = useMemo(() => {
    const ends = (name: string) => sides.map((rows) => rows.get(name)).map((row) => (row ? `${row.ready_end} ${row.pending} ${row.lost}` : ""));
    return [...new Set(sides.flatMap((rows) => [...rows.keys()]))].filter((name) => new Set(ends(name)).size > 1 || sides.some((rows) => rows.has(name) && !isWell(rows.get(name)!)));
  }, [sides]);
  const [shown, more] = useSome(names);
  if (!runs.some((run) => run.workloads)) return null;
  return (
    <section aria-labelledby="workloads-compared-title">
      <h2 id="workloads-compared-title">Workloads</h2>
      {names.length === 0 ? <p className="hint">All workloads of the snapshot are ready in all runs.</p> : (
        <div className="cards">
          <table>
            <thead><tr><th scope="col">Workload</th>{runs.map((run, i) => <th scope="col" key={i}><Name text={run.name} /></th>)}<th scope="col">Why</th></tr></thead>
            <tbody>
              {shown.map((name) => (
                <tr key={name}>
                  <th scope="row"><Name text={name} /></th>
                  {sides.map((rows, i) => <td key={i} data-run={runs[i].name}><Ready row={rows.get(name)} /></td>)}
                  <td className="why"><bdi>{sides.findLast((rows) => rows.get(name)?.why)?.get(name)?.why ?? ""}</bdi></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {more}
    </section>
  );
}

function Ready({ row }: { row?: WorkloadRow }) {
  if (!row) return <>–</>;
  const also = [[row.pending, "pending"], [row.lost, "lost"]].filter(([count]) => count).map(([count, word]) => `${whole(count as number)} ${word}`);
  return <span className={isWell(row) ? undefined : "short"}>{whole(row.ready_end)} of {whole(row.wanted)} ready{also.length ? ` (${also.join(", ")})` : ""}</span>;
}

/** A price, or that it is not known: never 0. */
function price(perHour: number | null): string {
  return perHour === null ? "unknown" : perHour.toFixed(2);
}

function summed(pools: FreedPool[]): FreedPool {
  const sum = (of: (pool: FreedPool) => number) => pools.reduce((total, pool) => total + of(pool), 0);
  const pricePerHour = pools.some((pool) => pool.pricePerHour === null) ? null : sum((pool) => pool.pricePerHour ?? 0);
  return { pool: "", nodes: pools.flatMap((pool) => pool.nodes), idleToday: pools.flatMap((pool) => pool.idleToday), needed: pools.flatMap((pool) => pool.needed), cpu: sum((pool) => pool.cpu), memory: sum((pool) => pool.memory), gpus: sum((pool) => pool.gpus), pricePerHour };
}

export function SwitchedOff({ byRun }: { byRun: Record<string, FreedPool[]> }) {
  const runs = Object.entries(byRun).filter(([, pools]) => pools.length);
  if (!runs.length) return null;
  return (
    <section aria-labelledby="off-title">
      <h2 id="off-title">Nodes that could be switched off</h2>
      {runs.map(([run, pools]) => (
        <div className="cards" key={run}>
          <table>
            <caption>with <Name text={run} /></caption>
            <thead>
              <tr><th scope="col">Pool</th><th scope="col">Nodes</th><th scope="col">Needed instead</th><th scope="col">Idle today</th><th scope="col">CPU cores</th><th scope="col">Memory</th><th scope="col">GPUs</th><th scope="col">Price an hour</th><th scope="col">Which</th></tr>
            </thead>
            <tbody>
              {pools.map((pool) => <tr key={pool.pool}><th scope="row"><Name text={pool.pool || "no pool"} /></th><Amounts pool={pool} /><td data-run="which" className="why"><Which nodes={pool.nodes} />{pool.needed.length > 0 && <><br />instead: <Which nodes={pool.needed} /></>}</td></tr>)}
              {pools.length > 1 && <tr className="sum"><th scope="row">all</th><Amounts pool={summed(pools)} /><td className="why" /></tr>}
            </tbody>
          </table>
        </div>
      ))}
    </section>
  );
}

function Amounts({ pool }: { pool: FreedPool }) {
  return (
    <>
      <td data-run="nodes">{whole(pool.nodes.length)}</td><td data-run="needed instead">{whole(pool.needed.length)}</td><td data-run="idle today">{whole(pool.idleToday.length)}</td><td data-run="cpu cores">{amount("cpu", pool.cpu * 1000)}</td>
      <td data-run="memory">{amount("memory", pool.memory)}</td><td data-run="gpus">{whole(pool.gpus)}</td><td data-run="price an hour">{price(pool.pricePerHour)}</td>
    </>
  );
}

const FEW = 8;

function Which({ nodes }: { nodes: string[] }) {
  const list = (names: string[]) => names.map((name, i) => <Fragment key={name}>{i > 0 && ", "}<bdi>{name}</bdi></Fragment>);
  if (nodes.length <= FEW) return <>{list(nodes)}</>;
  return <>{list(nodes.slice(0, FEW))}<details><summary>{counted(nodes.length - FEW, "more node")}</summary>{list(nodes.slice(FEW))}</details></>;
}
