/** Two or more schedulers on one scenario: the verdict, measures, both players in step, and every pod that moved. */
import { useMemo, useState } from "react";
import { go, useAddress, visit } from "./address";
import { Curves } from "./curves";
import type { Comparison, Difference, MeasureRow } from "./data";
import { addressOf, axis, beginning, counted, groupingLabels, levels, podOf, podsNamed, whole } from "./derive";
import { DecisionPanel } from "./decisionpanel";
import { Frame, Omitted, type View } from "./frame";
import { inOrder, Name } from "./names";
import { type Colouring, colouring, NodeMap, rowsOf } from "./nodemap";
import { type Player, usePlayer } from "./player";
import { Replay } from "./replay";
import { Choice, colours } from "./choice";
import type { Run } from "./run";
import { SwitchedOff, WorkloadsCompared } from "./workloads";

export function Compare({ player, comparison, home }: { player: Player; comparison: Comparison; home?: React.ReactNode }) {
  const { runs } = player;
  const views: View[] = [
    { key: "verdict", title: "Verdict", content: () => <Verdict player={player} comparison={comparison} /> },
    { key: "play", title: "Play", content: () => <Play player={player} comparison={comparison} /> },
    { key: "moved", title: `Moved pods`, content: () => <Differences player={player} comparison={comparison} /> },
    ...(player.run.steps.length > 1 ? [{ key: "curves", title: "Curves", content: () => <Charts player={player} /> }] : []),
  ];
  const omitted = runs.flatMap((run) => run.omitted.map((text) => `${run.name}: ${text}`));
  return (
    <Frame
      title={<Name text={runs.map((run) => run.name).join(" against ")} />}
      summary={
        <>
          {comparison.verdict.map((sentence) => <p className="verdict" key={sentence}>{inOrder(sentence)}</p>)}
          {runs.every((run) => run.title === runs[0].title) && <p className="hint">Scenario {runs[0].title}</p>}
          <Omitted texts={omitted} />
        </>
      }
      home={home}
      views={views}
      player={player}
      footer={`Seatrial ${runs[0].version}. The address of this page reopens what you see.`}
    />
  );
}

function Verdict({ player, comparison }: { player: Player; comparison: Comparison }) {
  return (
    <>
      <SwitchedOff byRun={comparison.switchedOff} />
      <WorkloadsCompared runs={player.runs} />
      <Measures runs={player.runs} comparison={comparison} />
      <Flows player={player} comparison={comparison} />
    </>
  );
}

function Charts({ player }: { player: Player }) {
  usePlayer(player);
  const { runs, run } = player;
  const places = useMemo(() => axis(run), [run]);
  const labels = useMemo(() => [beginning(run), ...run.steps.map((each) => each.label)], [run]);
  const charts = useMemo(() => {
    const of = (pick: (run: Run) => number[]) => runs.map((each) => ({ name: each.name, values: pick(each) }));
    return [
      ...runs[0].resources.filter((name) => name !== "pods").map((name) => ({
        title: `Allocation of ${name}`,
        unit: "%",
        curves: of((each) => levels(each).allocation[each.resources.indexOf(name)] ?? []),
      })),
      { title: "Nodes in use", unit: "", curves: of((each) => levels(each).nodesUsed) },
      { title: "Waiting pods", unit: "", curves: of((each) => levels(each).waiting) },
      { title: "Preempted pods", unit: "", curves: of((each) => levels(each).preempted) },
    ];
  }, [runs]);
  const different = useMemo(() => charts.filter((chart) => differs(chart.curves.map((curve) => curve.values))), [charts]);
  const equal = charts.filter((chart) => !different.includes(chart)).map((chart) => chart.title);
  return (
    <section aria-labelledby="curves-title">
      <h2 id="curves-title">Curves that differ</h2>
      {!different.length && <p className="hint empty">All curves are the same in these runs.</p>}
      <div className="pair">
        {different.map((chart) => (
          <Curves key={chart.title} {...chart} {...{ labels, places, step: player.step + 1 }} onStep={(at) => player.toStep(at - 1)} />
        ))}
      </div>
      {equal.length > 0 && <p className="hint">Equal in all runs: {equal.join(", ")}.</p>}
    </section>
  );
}

/** This run's values minus the other's, node by node. */
function minus(replay: Replay, against: Replay, by: string): Colouring {
  const [mine, theirs] = [colouring(replay, by, undefined), colouring(against, by, undefined)];
  const rows = rowsOf(against.run);
  const values = mine.values.map((value, i) => {
    const row = rows.get(replay.run.nodes.name[i]);
    return value - (row === undefined ? NaN : theirs.values[row]);
  });
  return { ...mine, label: `difference of ${mine.label}`, values, isDifference: true };
}

/** Both clusters at one moment, and where they differ. */
function Play({ player, comparison }: { player: Player; comparison: Comparison }) {
  usePlayer(player);
  const address = useAddress();
  const { runs, replays } = player;
  const other = Math.min(runs.length - 1, Math.max(1, Number(address.other ?? 1)));
  const by = address.colour ?? address.resource ?? runs[0].resources[0];
  const resource = Math.max(0, runs[0].resources.indexOf(by.replace("free:", "")));
  const groups = useMemo(() => groupingLabels(runs[0]), [runs]);
  const both = [0, other].map((i) => colouring(replays[i], by, undefined));
  const shown = { resource, group: address.group ?? "", selected: address.node, onSelect: (node: string) => go({ node: node === address.node ? "" : node }) };
  return (
    <section aria-label="Both clusters" className="both">
      <div className="tools">
        <Choice label="Colour by" value={by} options={colours(runs[0], []).filter(([key]) => !key.startsWith("score:"))} onChange={(value) => go({ colour: value, resource: "" })} />
        <Choice label="Group by" value={address.group ?? ""} options={[["", "nothing"], ...groups.map((key): [string, string] => [key, key])]} onChange={(value) => go({ group: value })} />
        {runs.length > 2 && (
          <Choice label="Against" value={String(other)} options={runs.slice(1).map((run, i): [string, string] => [String(i + 1), run.name])} onChange={(value) => go({ other: value })} />
        )}
      </div>
      <div className="triple">
        {[0, other].map((i, place) => (
          <div key={i}>
            <h2><Name text={runs[i].name} /></h2>
            <p className="hint">{counted(replays[i].nodesUsed, "node")} in use · {counted(replays[i].waiting, "pod")} waiting</p>
            <NodeMap replay={replays[i]} colour={{ ...both[place], beside: both[1 - place].values }} {...shown} label={`Map of ${counted(runs[i].nodes.name.length, "node")}, ${runs[i].name}`} />
          </div>
        ))}
        <div>
          <h2><Name text={`${runs[other].name} minus ${runs[0].name}`} /></h2>
          <p className="hint">orange: more with {runs[other].name}; blue: less</p>
          <NodeMap replay={replays[other]} colour={minus(replays[other], replays[0], by)} {...shown} label={`Map of ${counted(runs[other].nodes.name.length, "node")}, difference`} />
        </div>
      </div>
      <Flows player={player} comparison={comparison} />
    </section>
  );
}

interface Flow {
  workload: string;
  reason: string;
  pods: number;
}

const MOST_FLOWS = 12;

/** A reason without the nodes and numbers in which equal reasons differ. */
function kindOf(reason: string): string {
  if (/^\S+ and \S+ tie$/.test(reason)) return "the nodes tie";
  return reason.split(/ by -?\d| \(before|:/)[0].replace(/ prefers (?!neither)\S+/, " prefers another node").replace(/ refuses \S+/, " refuses its node") || "the order of the search, or earlier pods";
}

/** Moved pods by workload and reason. */
function Flows({ player, comparison }: { player: Player; comparison: Comparison }) {
  const [run] = player.runs;
  const flows = useMemo(() => {
    const found = new Map<string, Flow>();
    for (const { pod, number, reason } of comparison.differences) {
      const place = podsNamed(run, pod)[number] ?? -1;
      const namespace = pod.slice(0, pod.indexOf("/"));
      const workload = `${namespace}/${run.pods.owner[place] || "(pods without a controller)"}`;
      const key = `${workload} ${kindOf(reason)}`;
      const flow = found.get(key) ?? { workload, reason: kindOf(reason), pods: 0 };
      flow.pods += 1;
      found.set(key, flow);
    }
    return [...found.values()].sort((a, b) => b.pods - a.pods);
  }, [run, comparison]);
  if (!flows.length) return null;
  const most = flows[0].pods;
  return (
    <section aria-labelledby="flows-title" className="flows">
      <h2 id="flows-title">Who moved, and why</h2>
      <ul>
        {flows.slice(0, MOST_FLOWS).map((flow) => (
          <li key={`${flow.workload} ${flow.reason}`}>
            <button type="button" onClick={() => visit({ view: "moved", search: flow.workload.endsWith(")") ? "" : flow.workload.slice(flow.workload.lastIndexOf("/") + 1) })}><Name text={flow.workload} /></button>
            <span className="flow" style={{ height: 4 + (16 * flow.pods) / most }} />
            <b>{counted(flow.pods, "pod")}</b>
            <span className="hint">{flow.reason}</span>
          </li>
        ))}
      </ul>
      {flows.length > MOST_FLOWS && <p className="hint">{counted(flows.length - MOST_FLOWS, "smaller group")} in Moved pods.</p>}
    </section>
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

/** What a change means, in a word that agrees with its sign: "" where neither direction is better. */
function wordFor(difference: number, better: string): "better" | "worse" | "" {
  if (!better || difference === 0) return "";
  return difference > 0 === (better === "higher") ? "better" : "worse";
}

function Measure({ row, runs }: { row: MeasureRow; runs: Run[] }) {
  const [base] = row.values;
  return (
    <tr>
      <th scope="row">{row.measure} <span className="hint">{row.unit}</span></th>
      {row.values.map((value, i) => <td key={runs[i].name} data-run={runs[i].name} className="number">{number(value)}</td>)}
      {row.values.slice(1).map((value, i) => <td key={runs[i + 1].name} data-run={runs.length > 2 ? `change ${runs[i + 1].name}` : "change"}><Change {...{ base, value }} better={row.better} /></td>)}
    </tr>
  );
}

function Change({ base, value, better }: { base: number | null; value: number | null; better: string }) {
  if (base === null || value === null) return <>–</>;
  const difference = value - base;
  if (difference === 0) return <>=</>;
  const word = wordFor(difference, better);
  const share = base !== 0 ? (100 * difference) / Math.abs(base) : Math.sign(difference) * 100;
  const part = Math.min(50, Math.abs(share) / 2);
  const sign = difference > 0 ? "+" : "";
  return (
    <span className={`change ${word}`}>
      <span className="balance" aria-hidden="true"><i style={{ width: `${part}%`, left: difference > 0 ? "50%" : `${50 - part}%` }} /></span>
      <span>{sign}{number(difference)}{base !== 0 ? ` (${sign}${share.toFixed(1)}%)` : ""} {word && <b>{word}</b>}</span>
    </span>
  );
}

function Measures({ runs, comparison }: { runs: Run[]; comparison: Comparison }) {
  // What a side did no work for has no number there; a row without any says nothing.
  const told = comparison.measures.filter((row) => row.values.some((value) => value !== null));
  const changed = told.filter((row) => row.values.some((value) => value !== row.values[0]));
  const equal = told.filter((row) => !changed.includes(row));
  const head = (
    <thead>
      <tr>
        <th scope="col">Measure</th>
        {runs.map((run) => <th scope="col" key={run.name}><Name text={run.name} /></th>)}
        {runs.slice(1).map((run) => <th scope="col" key={run.name}>Change{runs.length > 2 && <> <Name text={run.name} /></>}</th>)}
      </tr>
    </thead>
  );
  return (
    <section aria-labelledby="measures-title">
      <h2 id="measures-title">Measures</h2>
      {!changed.length && <p className="hint empty">No measure differs between these runs.</p>}
      {changed.length > 0 && (
        <div className="cards"><table>{head}<tbody>{changed.map((row) => <Measure key={row.measure} row={row} runs={runs} />)}</tbody></table></div>
      )}
      {equal.length > 0 && (
        <details>
          <summary>{counted(equal.length, "measure")} {equal.length === 1 ? "is" : "are"} equal in all runs</summary>
          <div className="cards"><table>{head}<tbody>{equal.map((row) => <Measure key={row.measure} row={row} runs={runs} />)}</tbody></table></div>
        </details>
      )}
      {comparison.spread.length > 0 && (
        <details>
          <summary>Spread over seeds</summary>
          <div className="cards">
            <table>
              <thead>
                <tr><th scope="col">Measure</th><th scope="col">Run</th><th scope="col">Least</th><th scope="col">Median</th><th scope="col">Most</th></tr>
              </thead>
              <tbody>
                {comparison.spread.map((row) => (
                  <tr key={`${row.measure} ${row.run}`}>
                    <th scope="row">{row.measure}</th>
                    <td data-run="run">{runs[row.run].name}</td>
                    <td data-run="least">{number(row.min)}</td>
                    <td data-run="median">{number(row.median)}</td>
                    <td data-run="most">{number(row.max)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
    </section>
  );
}

const PAGE = 100;

/** Every pod that went elsewhere: searched, some at a time, each with its decision in all runs. */
function Differences({ player, comparison }: { player: Player; comparison: Comparison }) {
  const address = useAddress();
  const { runs } = player;
  const search = address.search ?? "";
  const [shown, setShown] = useState(PAGE);
  const selected = useMemo(() => (address.pod ? podOf(runs[0], address.pod, address.life) : -1), [runs, address.pod, address.life]);
  const found = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return comparison.differences.filter(({ pod, number, nodes, reason }) => {
      const owner = runs[0].pods.owner[podsNamed(runs[0], pod)[number] ?? -1] ?? "";
      const text = `${pod} ${owner} ${nodes.map((node) => node ?? "pending").join(" ")} ${reason}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }, [comparison, search, runs]);
  return (
    <section aria-labelledby="differences-title">
      <h2 id="differences-title">Pods placed elsewhere</h2>
      {comparison.differences.length === 0 ? (
        <p className="hint empty">Every pod went to the same node.</p>
      ) : (
        <>
          <label className="search">
            Search moved pods{" "}
            <input
              type="search"
              value={search}
              onChange={(event) => {
                setShown(PAGE);
                go({ search: event.target.value });
              }}
              placeholder="name, node or reason"
            />
          </label>
          <p className="hint">{whole(found.length)} of {whole(comparison.differences.length)} moved pods</p>
          <div className="cards moved">
            <table>
              <thead>
                <tr>
                  <th scope="col">Pod</th>
                  {runs.map((run) => <th scope="col" key={run.name}><Name text={run.name} /></th>)}
                  <th scope="col">Why</th>
                </tr>
              </thead>
              <tbody>
                {found.slice(0, shown).map((row, i) => (
                  <Moved key={`${row.pod} ${i}`} player={player} row={row} selected={selected} onSelect={(pod) => go(pod < 0 ? { pod: "", life: "" } : addressOf(runs[0], pod), { push: true })} />
                ))}
              </tbody>
            </table>
          </div>
          {found.length > shown && (
            <button type="button" onClick={() => setShown(shown + PAGE)}>Show {Math.min(PAGE, found.length - shown)} more</button>
          )}
        </>
      )}
    </section>
  );
}

function Moved({ player, row, selected, onSelect }: {
  player: Player;
  row: Difference;
  selected: number;
  onSelect: (pod: number) => void;
}) {
  const { runs } = player;
  const place = (run: Run) => podsNamed(run, row.pod)[row.number] ?? -1;
  const open = runs[0].pods.key[selected] === row.pod && place(runs[0]) === selected;
  return (
    <>
      <tr aria-selected={open || undefined}>
        <th scope="row">
          <button type="button" aria-expanded={open} onClick={() => onSelect(open ? -1 : place(runs[0]))}><Name text={row.pod} /></button>
        </th>
        {row.nodes.map((node, i) => <td key={i} data-run={runs[i].name}>{node ?? "pending"}</td>)}
        <td className="why">{row.reason || "open the pod for its decision in each run"}</td>
      </tr>
      {open && (
        <tr>
          <td colSpan={row.nodes.length + 2} className="decisions">
            {runs.map((run) => (
              <Explained key={run.name} run={run} pod={place(run)} name={row.pod} />
            ))}
          </td>
        </tr>
      )}
    </>
  );
}

function Explained({ run, pod, name }: { run: Run; pod: number; name: string }) {
  const tries = pod >= 0 ? run.attemptsOf(pod) : [];
  const [attempt, setAttempt] = useState(tries.at(-1) ?? -1);
  // What nodes had free when the pod was tried, wherever the cursor is.
  const replay = useMemo(() => {
    const then = new Replay(run);
    then.seek(attempt < 0 ? run.changes.kind.length : run.tickOf[attempt]);
    return then;
  }, [run, attempt]);
  return <DecisionPanel {...{ run, replay, pod, name, attempt }} title={`Why ${name} with ${run.name}?`} onAttempt={setAttempt} isWide />;
}
