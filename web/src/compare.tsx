/** Two or more runs side by side: measures, curves under one cursor, heat maps and their difference. */
import { useMemo } from "react";
import { useAddress } from "./address";
import { Curves } from "./curves";
import type { Page } from "./data";
import { allocation, groupingLabels, pending } from "./derive";
import { HeatMap } from "./heatmap";
import { Choice, StepChooser } from "./report";

export function Compare({ page }: { page: Page }) {
  const [address, go] = useAddress();
  const { runs } = page;
  const longest = runs.reduce((most, run) => (run.steps.length > most.steps.length ? run : most), runs[0]);
  const last = Math.max(0, longest.steps.length - 1);
  const step = Math.min(last, Number(address.step ?? last) || 0);
  const resources = runs[0].resources;
  const resource = Math.max(0, resources.indexOf(address.resource ?? resources[0]));
  const other = Math.min(runs.length - 1, Math.max(1, Number(address.other ?? 1)));
  const setStep = (value: number) => go({ step: value === last ? "" : String(value) });
  const labels = useMemo(() => longest.steps.map((each) => each.label), [longest]);
  const charts = useMemo(
    () => [
      ...resources.filter((name) => name !== "pods").slice(0, 2).map((name) => ({
        title: `Allocation of ${name}`,
        unit: "%",
        curves: runs.map((run) => ({ name: run.name, values: allocation(run, run.resources.indexOf(name)) })),
      })),
      { title: "Waiting pods", unit: "", curves: runs.map((run) => ({ name: run.name, values: pending(run) })) },
    ],
    [runs, resources],
  );
  const groups = useMemo(() => groupingLabels(runs[0]), [runs]);
  return (
    <main>
      <header>
        <h1>{runs.map((run) => run.name).join(" against ")}</h1>
        <p>Scenario {runs[0].title}</p>
      </header>
      <Measures page={page} />
      <div className="pair">
        {charts.map((chart) => (
          <Curves key={chart.title} {...chart} labels={labels} step={step} onStep={setStep} />
        ))}
      </div>
      <section aria-labelledby="maps-title">
        <h2 id="maps-title">Nodes by requested share</h2>
        <div className="tools">
          <StepChooser run={longest} step={step} onStep={setStep} />
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
      <Differences page={page} />
      <footer>Seatrial {runs[0].version}. The address of this page reopens what you see.</footer>
    </main>
  );
}

function number(value: number | null): string {
  if (value === null) return "–";
  return Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) < 1 ? 4 : 2);
}

function Measures({ page }: { page: Page }) {
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
          <tbody>
            {page.measures.map((row) => (
              <tr key={row.measure}>
                <th scope="row">{row.measure} <span className="hint">{row.unit}</span></th>
                {row.values.map((value, i) => <td key={i}>{number(value)}</td>)}
                {row.values.slice(1).map((value, i) => <td key={i}>{delta(row.values[0], value, row.better)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
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

function Differences({ page }: { page: Page }) {
  return (
    <section aria-labelledby="differences-title">
      <h2 id="differences-title">Pods placed elsewhere</h2>
      {page.differences.length === 0 ? (
        <p>Every pod went to the same node.</p>
      ) : (
        <div className="scroll" tabIndex={0} role="region" aria-label="Pods placed elsewhere">
          <table>
            <thead>
              <tr>
                <th scope="col">Pod</th>
                {page.runs.map((run) => <th scope="col" key={run.name}>{run.name}</th>)}
                <th scope="col">Why</th>
              </tr>
            </thead>
            <tbody>
              {page.differences.slice(0, 200).map((row) => (
                <tr key={row.pod}>
                  <th scope="row">{row.pod}</th>
                  {row.nodes.map((node, i) => <td key={i}>{node ?? "pending"}</td>)}
                  <td>{row.reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {page.differences.length > 200 && <p className="hint">The first 200 of {page.differences.length}.</p>}
        </div>
      )}
    </section>
  );
}
