/** The folder of runs: searched, opened, compared; sweeps with their trade-off front. */
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { go, useAddress, visit } from "./address";
import { counted, whole } from "./derive";
import { inOrder, Name } from "./names";
import { getJson } from "./source";
import "./runs.css";

interface Listed {
  folder: string;
  runs: { id: string; title: string; phase: string; message: string; changed: number }[];
  sweeps: { id: string; changed: number }[];
}

function when(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
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
  const hasScenarios = answer?.runs.some((run) => run.title !== run.id && run.title) ?? false;
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
              <label className="search">Search runs <input type="search" value={search} onChange={(event) => go({ search: event.target.value })} placeholder="name, scenario or verdict" /></label>
              <button type="button" disabled={ticked.length < 2} onClick={() => visit({ compare: ticked.map((id) => id.replace(/[%,]/g, encodeURIComponent)).join(","), search: "" })}>
                Compare {ticked.length > 1 ? counted(ticked.length, "run") : "(tick two or more)"}
              </button>
              <span className="hint">{whole(found.length)} of {counted(answer.runs.length, "run")}</span>
            </div>
            <div className="cards list">
              <table>
                <thead><tr><th scope="col" className="tick">Compare</th><th scope="col">Run</th>{hasScenarios && <th scope="col">Scenario</th>}<th scope="col" className="verdict-of">Verdict</th><th scope="col" className="when">Changed</th></tr></thead>
                <tbody>
                  {found.map((run) => (
                    <tr key={run.id}>
                      <td data-run="compare">
                        <input type="checkbox" aria-label={`Compare ${run.id}`} checked={ticked.includes(run.id)} onChange={() => setTicked(ticked.includes(run.id) ? ticked.filter((id) => id !== run.id) : [...ticked, run.id])} />
                      </td>
                      <th scope="row"><a href={`#run=${encodeURIComponent(run.id)}`}><Name text={run.id === "." ? answer.folder : run.id} /></a></th>
                      {hasScenarios && <td data-run="scenario"><Name text={run.title} /></td>}
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
  objectives: { number: string; better: string }[];
  /** The runs that were kept, by the number of their point. */
  runs: Record<string, string>;
}

interface Point {
  row: Cell[];
  i: number;
  x: number;
  y: number;
}

/** A number as short as it can be told apart. */
function figure(value: number): string {
  return Number.isInteger(value) ? whole(value) : Number(value.toPrecision(4)).toLocaleString("en-US", { maximumSignificantDigits: 4 });
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
  const { x: askedX, y: askedY, better: askedBetter, point } = useAddress();
  const numbers = sweep.columns.filter((name, i) => !SETTINGS.has(name) && !name.startsWith("axis.") && sweep.rows.some((row) => typeof row[i] === "number"));
  const varied = numbers.filter((name) => new Set(sweep.rows.map((row) => row[sweep.columns.indexOf(name)])).size > 1);
  const wanted = [...sweep.objectives.map((each) => each.number), ...varied.filter((name) => !sweep.objectives.some((each) => each.number === name)), ...numbers];
  const [x, y] = [askedX ?? wanted[0], askedY ?? wanted[1] ?? wanted[0]];
  const better = askedBetter ?? [x, y].map((name) => sweep.objectives.find((each) => each.number === name)?.better ?? "lower").join(",");
  const signs = better.split(",").map((word) => (word === "higher" ? -1 : 1)) as [number, number];
  const points = useMemo(() => {
    const [cx, cy] = [sweep.columns.indexOf(x), sweep.columns.indexOf(y)];
    return sweep.rows.map((row, i) => ({ row, i, x: row[cx], y: row[cy] })).filter((each): each is Point => typeof each.x === "number" && typeof each.y === "number");
  }, [sweep, x, y]);
  const front = useMemo(() => frontOf(points, signs), [points, better]);
  if (!points.length) return <p className="hint empty">No point of this sweep has numbers: its runs have failed, or it was not finished.</p>;
  const range = (values: number[]) => [Math.min(...values), Math.max(...values)];
  const [[left, right], [low, high]] = [range(points.map((each) => each.x)), range(points.map((each) => each.y))];
  const at = (value: number, from: number, to: number) => (to > from ? (100 * (value - from)) / (to - from) : 50);
  const chosen = points.find((each) => String(each.i) === point);
  const all = sweep.columns.map((name, i) => [name, i] as const).filter(([name]) => name.startsWith("axis.") || ["scenario", "schedulerConfig", "seed"].includes(name));
  // What is the same in every point tells none from another.
  const differing = all.filter(([, i]) => sweep.rows.some((row) => row[i] !== sweep.rows[0][i]));
  const settings = differing.length ? differing : all;
  const line = [...front].map((i) => points[i]).sort((a, b) => a.x - b.x);
  const runOf = (each: Point): string | undefined => sweep.runs[String(each.row[sweep.columns.indexOf("point")])];
  const told = (each: Point) => inOrder(settings.map(([name, i]) => `${name.replace("axis.", "")} ${each.row[i]}`).join(", "));
  const open = (each: Point) => {
    const run = runOf(each);
    if (run === undefined) go({ point: String(each.i) });
    else visit({ run, sweep: "", x: "", y: "", better: "", point: "" });
  };
  return (
    <>
      <div className="tools">
        {([["x", x, 0], ["y", y, 1]] as const).map(([axis, value, place]) => (
          <span key={axis} className="axis-choice">
            <label>{axis === "x" ? "Across" : "Up"} <select value={value} onChange={(event) => go({ [axis]: event.target.value, better: "" })}>{numbers.map((number) => <option key={number}>{number}</option>)}</select></label>{" "}
            <select aria-label={`Better ${axis}`} value={better.split(",")[place]} onChange={(event) => go({ better: better.split(",").map((word, i) => (i === place ? event.target.value : word)).join(",") })}>
              <option value="lower">lower is better</option>
              <option value="higher">higher is better</option>
            </select>
          </span>
        ))}
      </div>
      <div className="scatter" role="group" aria-label={`${y} over ${x}`}>
        <p className="upward"><Name text={y} /></p>
        <div className={high > low ? "ticks" : "ticks one"}><span>{figure(high)}</span><span>{high > low && figure(low)}</span></div>
        <div className="plot">
          <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true"><polyline points={line.map((each) => `${at(each.x, left, right)},${100 - at(each.y, low, high)}`).join(" ")} /></svg>
          {points.map((each, i) => (
            <button
              type="button" key={each.i} className={front.has(i) ? "dot front" : "dot"} aria-pressed={each === chosen || undefined} title={told(each)}
              style={{ left: `${at(each.x, left, right)}%`, bottom: `${at(each.y, low, high)}%` }}
              aria-label={`${runOf(each) === undefined ? "Point" : "Open the run of point"} ${each.i}: ${x} ${figure(each.x)}, ${y} ${figure(each.y)}${front.has(i) ? ", on the front" : ""}`}
              onClick={() => open(each)}
            />
          ))}
        </div>
        <div className="ticks across"><span>{figure(left)}</span><span>{right > left && figure(right)}</span></div>
        <p className="rightward"><Name text={x} /></p>
      </div>
      <p className="legend wraps"><span><i className="dot front" />on the trade-off front: {whole(front.size)} of {counted(points.length, "point")}; no other is at least as good in both and better in one</span><span><i className="dot" />beaten by another</span></p>
      {chosen && (
        <p className="sentence">
          {told(chosen)}: <Name text={x} /> {figure(chosen.x)}, <Name text={y} /> {figure(chosen.y)}. <span className="hint">Its run was not kept. <code>seatrial sweep FILE --keep-runs</code> plays the settings on the front of its objectives again and keeps them.</span>
        </p>
      )}
      {differing.length > 0 && points.length > 1 && (
        <Parallel
          points={points.map((each, i) => ({ values: [...differing.map(([, c]) => each.row[c]), each.x, each.y], isFront: front.has(i), isChosen: each === chosen }))}
          names={[...differing.map(([name]) => name.replace("axis.", "")), x, y]}
        />
      )}
      <div className="cards">
        <table>
          <caption>The front</caption>
          <thead><tr>{settings.map(([name]) => <th scope="col" key={name}><Name text={name.replace("axis.", "")} /></th>)}<th scope="col"><Name text={x} /></th><th scope="col"><Name text={y} /></th><th scope="col">Run</th></tr></thead>
          <tbody>
            {line.map((each) => (
              <tr key={each.i} aria-selected={each === chosen || undefined}>
                {settings.map(([name, i]) => <td key={name} data-run={name.replace("axis.", "")}><Name text={String(each.row[i])} /></td>)}
                <td data-run={x}>{figure(each.x)}</td><td data-run={y}>{figure(each.y)}</td>
                <td data-run="run">{runOf(each) === undefined ? <span className="hint">not kept</span> : <button type="button" className="link" onClick={() => open(each)}>Open</button>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** A line for each point, through its settings and both numbers; those of the front above the others. */
function Parallel({ names, points }: { names: string[]; points: { values: Cell[]; isFront: boolean; isChosen: boolean }[] }) {
  const axes = names.map((name, a) => {
    const values = [...new Set(points.map(({ values: each }) => each[a]))];
    const isNumber = values.every((value) => typeof value === "number");
    const sorted = isNumber ? (values as number[]).sort((one, other) => one - other) : values.sort();
    const [least, most] = [Number(sorted[0]), Number(sorted.at(-1))];
    const at = (value: Cell) => (sorted.length < 2 ? 50 : isNumber ? (100 * (Number(value) - least)) / (most - least) : (100 * sorted.indexOf(value)) / (sorted.length - 1));
    const shown = isNumber && sorted.length > 4 ? [sorted[0], sorted.at(-1)!] : sorted.slice(0, 6);
    const ticks = shown.map((value) => ({ text: typeof value === "number" ? figure(value) : String(value), at: at(value) }));
    return { name, at, ticks: ticks.filter((tick, i) => i === ticks.length - 1 || ticks.slice(i + 1).every((later) => Math.abs(later.at - tick.at) >= 9)) };
  });
  const x = (a: number) => (100 * (a + 0.5)) / names.length;
  const ordered = [...points].sort((one, other) => Number(one.isChosen) - Number(other.isChosen) || Number(one.isFront) - Number(other.isFront));
  return (
    <figure className="parallel">
      <figcaption>Settings and numbers of every point; those of the front stand out</figcaption>
      <div className="axes" style={{ gridTemplateColumns: `repeat(${names.length}, minmax(0, 1fr))` }}>
        <svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label={`${counted(points.length, "point")} over ${names.join(", ")}`}>
          {axes.map((_, a) => <line key={a} x1={x(a)} x2={x(a)} y1="0" y2="100" />)}
          {ordered.map(({ values, isFront, isChosen }, i) => <polyline key={i} className={isChosen ? "chosen" : isFront ? "front" : ""} points={axes.map(({ at }, a) => `${x(a)},${100 - at(values[a])}`).join(" ")} />)}
        </svg>
        {axes.map(({ name, ticks }) => (
          <div key={name} className="axis">
            {ticks.map((tick) => <span key={tick.text} style={{ bottom: `${tick.at}%` }}><Name text={tick.text} /></span>)}
            <b><Name text={name} /></b>
          </div>
        ))}
      </div>
    </figure>
  );
}
