/** The folder of runs: searched, opened, compared; sweeps with their trade-off front. */
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { go, useAddress, visit } from "./address";
import { KINDS } from "./colours";
import { counted, whole } from "./derive";
import { Name } from "./names";
import { getJson } from "./source";

interface Listed {
  folder: string;
  runs: { id: string; title: string; phase: string; message: string; changed: number }[];
  sweeps: { id: string; changed: number }[];
}

function when(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString();
}

function useAnswer<T>(path: string): { answer?: T; error?: string } {
  const [found, setFound] = useState<{ path: string; answer?: T; error?: string }>();
  useEffect(() => {
    getJson<T>(path).then((answer) => setFound({ path, answer }), (error: unknown) => setFound({ path, error: String(error) }));
  }, [path]);
  return found?.path === path ? found : {};
}

export function Runs() {
  const { search = "" } = useAddress();
  const { answer, error } = useAnswer<Listed>("/ui/api/runs");
  const [ticked, setTicked] = useState<string[]>([]);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = answer?.runs.filter((run) => words.every((word) => `${run.id} ${run.title} ${run.phase} ${run.message}`.toLowerCase().includes(word))) ?? [];
  return (
    <main className="view runs">
      <section aria-labelledby="runs-title">
        <h1 id="runs-title">Runs{answer ? ` in ${answer.folder}` : ""}</h1>
        {error && <p role="alert">{error}</p>}
        {!answer && !error && <p role="status" className="hint">Reading the folder…</p>}
        {answer && answer.runs.length === 0 && (
          <p className="hint empty">This folder has no runs yet. <code>seatrial run SCENARIO.yaml --out {answer.folder}/first</code> makes one; then reload this page.</p>
        )}
        {answer && answer.runs.length > 0 && (
          <>
            <div className="tools">
              <label>Search runs <input type="search" value={search} onChange={(event) => go({ search: event.target.value })} placeholder="name, scenario or verdict" /></label>
              <button type="button" disabled={ticked.length < 2} onClick={() => visit({ compare: ticked.join(","), search: "" })}>
                Compare {ticked.length > 1 ? counted(ticked.length, "run") : "(tick two or more)"}
              </button>
              <span className="hint">{whole(found.length)} of {counted(answer.runs.length, "run")}</span>
            </div>
            <div className="cards">
              <table>
                <thead><tr><th scope="col">Compare</th><th scope="col">Run</th><th scope="col">Scenario</th><th scope="col">Verdict</th><th scope="col">Changed</th></tr></thead>
                <tbody>
                  {found.map((run) => (
                    <tr key={run.id}>
                      <td data-run="compare">
                        <input type="checkbox" aria-label={`Compare ${run.id}`} checked={ticked.includes(run.id)} onChange={() => setTicked(ticked.includes(run.id) ? ticked.filter((id) => id !== run.id) : [...ticked, run.id])} />
                      </td>
                      <th scope="row"><a href={`#run=${encodeURIComponent(run.id)}`}><Name text={run.id === "." ? answer.folder : run.id} /></a></th>
                      <td data-run="scenario"><Name text={run.title} /></td>
                      <td data-run="verdict" className="why"><span className={`phase ${run.phase.toLowerCase()}`}>{run.phase}</span> {run.message}</td>
                      <td data-run="changed">{when(run.changed)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </>
        )}
      </section>
      {answer && answer.sweeps.length > 0 && (
        <section aria-labelledby="sweeps-title">
          <h2 id="sweeps-title">Sweeps</h2>
          <ul className="plain">{answer.sweeps.map((sweep) => <li key={sweep.id}><a href={`#sweep=${encodeURIComponent(sweep.id)}`}><Name text={sweep.id} /></a> <span className="hint">{when(sweep.changed)}</span></li>)}</ul>
        </section>
      )}
    </main>
  );
}

type Cell = string | number | null;

interface Sweep {
  columns: string[];
  rows: Cell[][];
}

const SETTINGS = new Set(["point", "scenario", "schedulerConfig", "seed", "phase", "message", "tries"]);

/** Points that no other beats in both numbers; less is better unless told otherwise. */
function frontOf(points: { x: number; y: number }[], signs: [number, number]): Set<number> {
  const front = new Set<number>();
  points.forEach((point, i) => {
    const isBeaten = points.some((other) => {
      const [dx, dy] = [signs[0] * (other.x - point.x), signs[1] * (other.y - point.y)];
      return dx <= 0 && dy <= 0 && (dx < 0 || dy < 0);
    });
    if (!isBeaten) front.add(i);
  });
  return front;
}

/** The settings of a sweep over two numbers, with those that are worth a look. */
export function SweepPage({ name, home }: { name: string; home: ReactNode }) {
  const { answer, error } = useAnswer<Sweep>(`/ui/api/sweeps/${encodeURIComponent(name)}`);
  return (
    <main className="view runs">
      <p>{home}</p>
      <h1>Sweep <Name text={name} /></h1>
      {error && <p role="alert">{error}</p>}
      {answer ? <Scatter sweep={answer} /> : !error && <p role="status" className="hint">Reading the sweep…</p>}
    </main>
  );
}

function Scatter({ sweep }: { sweep: Sweep }) {
  const { x: askedX, y: askedY, better = "lower,lower", point } = useAddress();
  const numbers = sweep.columns.filter((name, i) => !SETTINGS.has(name) && !name.startsWith("axis.") && sweep.rows.some((row) => typeof row[i] === "number"));
  const varied = numbers.filter((name) => new Set(sweep.rows.map((row) => row[sweep.columns.indexOf(name)])).size > 1);
  const [x, y] = [askedX ?? varied[0] ?? numbers[0], askedY ?? varied[1] ?? numbers[1] ?? numbers[0]];
  const signs = better.split(",").map((word) => (word === "higher" ? -1 : 1)) as [number, number];
  const points = useMemo(() => {
    const [cx, cy] = [sweep.columns.indexOf(x), sweep.columns.indexOf(y)];
    return sweep.rows.map((row, i) => ({ row, i, x: row[cx], y: row[cy] })).filter((each): each is { row: Cell[]; i: number; x: number; y: number } => typeof each.x === "number" && typeof each.y === "number");
  }, [sweep, x, y]);
  const front = useMemo(() => frontOf(points, signs), [points, better]);
  if (!points.length) return <p className="hint empty">No point of this sweep has numbers: its runs have failed, or it was not finished.</p>;
  const range = (values: number[]) => [Math.min(...values), Math.max(...values)];
  const [[left, right], [low, high]] = [range(points.map((each) => each.x)), range(points.map((each) => each.y))];
  const at = (value: number, from: number, to: number, size: number) => (to > from ? (value - from) / (to - from) : 0.5) * size;
  const chosen = points.find((each) => String(each.i) === point);
  const settings = sweep.columns.map((name, i) => [name, i] as const).filter(([name]) => name.startsWith("axis.") || ["scenario", "schedulerConfig", "seed"].includes(name));
  const line = [...front].map((i) => points[i]).sort((a, b) => a.x - b.x);
  const [sx, sy] = [(each: { x: number }) => 60 + at(each.x, left, right, 500), (each: { y: number }) => 300 - at(each.y, low, high, 270)];
  return (
    <>
      <div className="tools">
        {([["x", x, 0], ["y", y, 1]] as const).map(([axis, value, place]) => (
          <span key={axis}>
            <label>{axis === "x" ? "Across" : "Up"} <select value={value} onChange={(event) => go({ [axis]: event.target.value })}>{numbers.map((number) => <option key={number}>{number}</option>)}</select></label>{" "}
            <select aria-label={`Better ${axis}`} value={better.split(",")[place]} onChange={(event) => go({ better: better.split(",").map((word, i) => (i === place ? event.target.value : word)).join(",") })}>
              <option value="lower">lower is better</option>
              <option value="higher">higher is better</option>
            </select>
          </span>
        ))}
      </div>
      <svg className="scatter" viewBox="0 0 600 340" role="group" aria-label={`${y} over ${x}`}>
        <line x1="60" y1="310" x2="580" y2="310" /><line x1="50" y1="20" x2="50" y2="310" />
        <text x="60" y="328">{left}</text><text x="580" y="328" textAnchor="end">{right} {x}</text>
        <text x="44" y="304" textAnchor="end">{low}</text><text x="44" y="36" textAnchor="end">{high}</text><text x="8" y="14">{y}</text>
        <polyline points={line.map((each) => `${sx(each)},${sy(each)}`).join(" ")} />
        {points.map((each, i) => (
          <circle key={i} cx={sx(each)} cy={sy(each)} r={front.has(i) ? 6 : 4} fill={front.has(i) ? KINDS[1] : KINDS[6]} tabIndex={0} role="button" aria-label={`point ${each.i}: ${x} ${each.x}, ${y} ${each.y}${front.has(i) ? ", on the front" : ""}`} onClick={() => go({ point: String(each.i) })} onKeyDown={(event) => event.key === "Enter" && go({ point: String(each.i) })} />
        ))}
      </svg>
      <p className="hint">{counted(front.size, "point")} of {whole(points.length)} {front.size === 1 ? "is" : "are"} on the trade-off front (amber): no other is at least as good in both and better in one.</p>
      {chosen && <p className="sentence">{settings.map(([name, i]) => `${name.replace("axis.", "")} ${chosen.row[i]}`).join(", ")}: {x} {chosen.x}, {y} {chosen.y}.</p>}
      <div className="cards">
        <table>
          <thead><tr>{settings.map(([name]) => <th scope="col" key={name}>{name.replace("axis.", "")}</th>)}<th scope="col">{x}</th><th scope="col">{y}</th></tr></thead>
          <tbody>
            {line.map((each) => (
              <tr key={each.i} aria-selected={String(each.i) === point || undefined}>
                {settings.map(([name, i]) => <td key={name} data-run={name.replace("axis.", "")}>{String(each.row[i])}</td>)}
                <td data-run={x}>{each.x}</td><td data-run={y}>{each.y}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
