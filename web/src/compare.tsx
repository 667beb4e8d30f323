/** Two or more runs side by side: a verdict, measures, the curves that differ, heat maps, and every pod that moved. */
import { useMemo, useState } from "react";
import { useAddress } from "./address";
import { Curves } from "./curves";
import type { Difference, MeasureRow, Page, Run } from "./data";
import {
  addressOf, allocation, axis, counted, groupingLabels, nodesInUse, pending, podOf, podsNamed, preemptions, stepOf,
} from "./derive";
import { Explanation } from "./explanation";
import { HeatMap } from "./heatmap";
import { Choice, StepChooser } from "./report";

export function Compare({ page }: { page: Page }) {
  const [address, go] = useAddress();
  const { runs } = page;
  const longest = runs.reduce((most, run) => (run.steps.length > most.steps.length ? run : most), runs[0]);
  const last = Math.max(0, longest.steps.length - 1);
  const step = stepOf(longest, address.step);
  const resources = runs[0].resources;
  const resource = Math.max(0, resources.indexOf(address.resource ?? resources[0]));
  const other = Math.min(runs.length - 1, Math.max(1, Number(address.other ?? 1)));
  const setStep = (value: number) => go({ step: value === last ? "" : longest.steps[value].label });
  const places = useMemo(() => axis(longest), [longest]);
  const labels = useMemo(() => longest.steps.map((each) => each.label), [longest]);
  const charts = useMemo(
    () => [
      ...resources.filter((name) => name !== "pods").map((name) => ({
        title: `Allocation of ${name}`,
        unit: "%",
        curves: runs.map((run) => ({ name: run.name, values: allocation(run, run.resources.indexOf(name)) })),
      })),
      { title: "Nodes in use", unit: "", curves: runs.map((run) => ({ name: run.name, values: nodesInUse(run) })) },
      { title: "Waiting pods", unit: "", curves: runs.map((run) => ({ name: run.name, values: pending(run) })) },
      { title: "Preempted pods", unit: "", curves: runs.map((run) => ({ name: run.name, values: preemptions(run) })) },
    ],
    [runs, resources],
  );
  const different = useMemo(() => charts.filter((chart) => differs(chart.curves.map((curve) => curve.values))), [charts]);
  const equal = charts.filter((chart) => !different.includes(chart)).map((chart) => chart.title);
  const groups = useMemo(() => groupingLabels(runs[0]), [runs]);
  const selected = useMemo(
    () => (address.pod ? podOf(runs[0], address.pod, address.life) : -1),
    [runs, address.pod, address.life],
  );
  return (
    <main>
      <header>
        <h1>{runs.map((run) => run.name).join(" against ")}</h1>
        <p>Scenario {runs[0].title}</p>
        {page.verdict.map((sentence) => <p className="verdict" key={sentence}>{sentence}</p>)}
        {runs.flatMap((run) => run.omitted.map((text) => <p className="omitted" key={run.name + text}>{run.name}: {text}</p>))}
      </header>
      <Measures page={page} />
      {last > 0 && (
        <section aria-labelledby="curves-title">
          <h2 id="curves-title">Curves that differ</h2>
          <div className="pair">
            {different.map((chart) => (
              <Curves key={chart.title} {...chart} {...{ labels, places, step }} onStep={setStep} />
            ))}
          </div>
          {equal.length > 0 && <p className="hint">Equal in all runs: {equal.join(", ")}.</p>}
        </section>
      )}
      <section aria-labelledby="maps-title">
        <h2 id="maps-title">Nodes by requested share</h2>
        <div className="tools">
          {last > 0 && <StepChooser run={longest} step={step} onStep={setStep} />}
          <Choice
            label="Colour by"
            value={resources[resource]}
            options={resources.map((name) => [name, name])}
            onChange={(value) => go({ resource: value })}
          />
          <Choice
            label="Group by"
            value={address.group ?? ""}
            options={[["", "nothing"], ...groups.map((key): [string, string] => [key, key])]}
            onChange={(value) => go({ group: value })}
          />
          {runs.length > 2 && (
            <Choice
              label="Against"
              value={String(other)}
              options={runs.slice(1).map((run, i): [string, string] => [String(i + 1), run.name])}
              onChange={(value) => go({ other: value })}
            />
          )}
        </div>
        <div className="triple">
          {[runs[0], runs[other]].map((run, i) => (
            <div key={i}>
              <h3>{run.name}</h3>
              <HeatMap run={run} resource={resource} step={Math.min(step, run.steps.length - 1)} group={address.group ?? ""} />
            </div>
          ))}
          <div>
            <h3>{runs[other].name} minus {runs[0].name}</h3>
            <HeatMap run={runs[other]} against={runs[0]} resource={resource} step={step} group={address.group ?? ""} />
          </div>
        </div>
      </section>
      <Differences
        page={page}
        search={address.search ?? ""}
        onSearch={(search) => go({ search })}
        selected={selected}
        onSelect={(pod) => go(pod < 0 ? { pod: "", life: "" } : addressOf(runs[0], pod), { push: true })}
      />
      <footer>Seatrial {runs[0].version}. The address of this page reopens what you see.</footer>
    </main>
  );
}

function differs(curves: number[][]): boolean {
  const longest = Math.max(...curves.map((values) => values.length));
  for (let i = 0; i < longest; i++) {
    if (curves.some((values) => Math.abs((values[i] ?? NaN) - (curves[0][i] ?? NaN)) > 1e-9 || values.length <= i)) return true;
  }
  return false;
}

function number(value: number | null): string {
  if (value === null) return "–";
  return Number.isInteger(value) ? value.toLocaleString("en-US") : value.toFixed(Math.abs(value) < 1 ? 4 : 2);
}

function Row({ row }: { row: MeasureRow }) {
  return (
    <tr>
      <th scope="row">{row.measure} <span className="hint">{row.unit}</span></th>
      {row.values.map((value, i) => <td key={i}>{number(value)}</td>)}
      {row.values.slice(1).map((value, i) => <td key={i}>{delta(row.values[0], value, row.better)}</td>)}
    </tr>
  );
}

function Measures({ page }: { page: Page }) {
  const changed = page.measures.filter((row) => row.values.some((value) => value !== row.values[0]));
  const equal = page.measures.filter((row) => !changed.includes(row));
  return (
    <section aria-labelledby="measures-title">
      <h2 id="measures-title">Measures</h2>
      <div className="scroll" tabIndex={0} role="region" aria-label="Measures">
        <table>
          <thead>
            <tr>
              <th scope="col">Measure</th>
              {page.runs.map((run) => <th scope="col" key={run.name}>{run.name}</th>)}
              {page.runs.slice(1).map((run) => <th scope="col" key={run.name}>Δ {run.name}</th>)}
            </tr>
          </thead>
          <tbody>{changed.map((row) => <Row key={row.measure} row={row} />)}</tbody>
        </table>
      </div>
      {equal.length > 0 && (
        <details>
          <summary>{counted(equal.length, "measure")} {equal.length === 1 ? "is" : "are"} equal in all runs</summary>
          <table><tbody>{equal.map((row) => <Row key={row.measure} row={row} />)}</tbody></table>
        </details>
      )}
      {page.spread.length > 0 && (
        <details>
          <summary>Spread over seeds</summary>
          <table>
            <thead>
              <tr><th scope="col">Measure</th><th scope="col">Run</th><th scope="col">Least</th><th scope="col">Median</th><th scope="col">Most</th></tr>
            </thead>
            <tbody>
              {page.spread.map((row) => (
                <tr key={`${row.measure} ${row.run}`}>
                  <th scope="row">{row.measure}</th>
                  <td>{page.runs[row.run].name}</td>
                  <td>{number(row.min)}</td>
                  <td>{number(row.median)}</td>
                  <td>{number(row.max)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </section>
  );
}

function delta(before: number | null, after: number | null, better: string) {
  if (before === null || after === null) return "–";
  const difference = after - before;
  if (difference === 0) return "=";
  const share = before !== 0 ? ` (${difference > 0 ? "+" : ""}${((100 * difference) / Math.abs(before)).toFixed(1)}%)` : "";
  const good = better === "" ? "" : (difference > 0) === (better === "higher") ? "good" : "bad";
  const mark = good === "good" ? " ▲ better" : good === "bad" ? " ▼ worse" : "";
  return <span className={good}>{difference > 0 ? "+" : ""}{number(difference)}{share}{mark}</span>;
}

const PAGE = 100;

/** Every pod that went elsewhere: searched, some at a time, each with its decision in all runs.
 *
 * `selected` and `onSelect` name a pod by its place in the first run; -1: none.
 */
function Differences({ page, search, onSearch, selected, onSelect }: {
  page: Page;
  search: string;
  onSearch: (text: string) => void;
  selected: number;
  onSelect: (pod: number) => void;
}) {
  const [shown, setShown] = useState(PAGE);
  const found = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return page.differences.filter(({ pod, nodes, reason }) => {
      const text = `${pod} ${nodes.map((node) => node ?? "pending").join(" ")} ${reason}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }, [page, search]);
  return (
    <section aria-labelledby="differences-title">
      <h2 id="differences-title">Pods placed elsewhere</h2>
      {page.differences.length === 0 ? (
        <p>Every pod went to the same node.</p>
      ) : (
        <>
          <label className="search">
            Search moved pods{" "}
            <input
              type="search"
              value={search}
              onChange={(event) => {
                setShown(PAGE);
                onSearch(event.target.value);
              }}
              placeholder="name, node or reason"
            />
          </label>
          <p className="hint">{found.length} of {page.differences.length} moved pods</p>
          <div className="scroll moved" tabIndex={0} role="region" aria-label="Pods placed elsewhere">
            <table>
              <thead>
                <tr>
                  <th scope="col">Pod</th>
                  {page.runs.map((run) => <th scope="col" key={run.name}>{run.name}</th>)}
                  <th scope="col">Why</th>
                </tr>
              </thead>
              <tbody>
                {found.slice(0, shown).map((row, i) => (
                  <Moved key={`${row.pod} ${i}`} page={page} row={row} selected={selected} onSelect={onSelect} />
                ))}
              </tbody>
            </table>
          </div>
          {found.length > shown && (
            <button onClick={() => setShown(shown + PAGE)}>Show {Math.min(PAGE, found.length - shown)} more</button>
          )}
        </>
      )}
    </section>
  );
}

function Moved({ page, row, selected, onSelect }: {
  page: Page;
  row: Difference;
  selected: number;
  onSelect: (pod: number) => void;
}) {
  const place = (run: Run) => podsNamed(run, row.pod)[row.number] ?? -1;
  const open = page.runs[0].pods.key[selected] === row.pod && place(page.runs[0]) === selected;
  return (
    <>
      <tr aria-selected={open || undefined}>
        <th scope="row">
          <button aria-expanded={open} onClick={() => onSelect(open ? -1 : place(page.runs[0]))}>{row.pod}</button>
        </th>
        {row.nodes.map((node, i) => <td key={i} data-run={page.runs[i].name}>{node ?? "pending"}</td>)}
        <td className="why">{row.reason || "open the pod for its decision in each run"}</td>
      </tr>
      {open && (
        <tr>
          <td colSpan={row.nodes.length + 2} className="decisions">
            {page.runs.map((run) => (
              <Explanation
                key={run.name}
                run={run}
                title={`Why ${row.pod} with ${run.name}?`}
                name={row.pod}
                pod={place(run)}
                attempt={Number.MAX_SAFE_INTEGER}
                onAttempt={() => undefined}
              />
            ))}
          </td>
        </tr>
      )}
    </>
  );
}
