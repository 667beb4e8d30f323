/** Why a pod is where it is: a sentence, the funnel of nodes, and the matrix node × plugin. */
import { useMemo } from "react";
import { KINDS } from "./colours";
import type { Attempt, Cells, Run } from "./data";
import { podsNamed, victims } from "./derive";

const MOST_ROWS = 60;

interface Props {
  run: Run;
  title?: string;
  name: string;
  /** Its place among the pods of the run; -1: there is none. */
  pod: number;
  attempt: number;
  onAttempt: (attempt: number) => void;
  onClose?: () => void;
}

export function Explanation({ run, title, name, pod, attempt, onAttempt, onClose }: Props) {
  const id = `explanation-${title ?? "title"}`;
  const attempts = useMemo(() => run.attempts.filter((each) => each.pod === pod), [run, pod]);
  const named = useMemo(() => podsNamed(run, name), [run, name]);
  const which = named.length > 1 && pod >= 0 ? ` (${named.indexOf(pod) + 1} of ${named.length} pods of this name)` : "";
  const chosen = attempts[Math.min(Math.max(attempt, 0), attempts.length - 1)];
  return (
    <section className="explanation" aria-labelledby={id}>
      <h2 id={id}>
        {title ?? `Why ${name}?`}{which} {onClose && <button onClick={onClose} aria-label="Close explanation">✕</button>}
      </h2>
      <p className="sentence">{sentence(run, pod, chosen)}</p>
      {attempts.length > 1 && (
        <div className="tools" role="group" aria-label="Attempts">
          {attempts.map((each, i) => (
            <button key={i} aria-pressed={each === chosen} onClick={() => onAttempt(i)}>
              {i + 1}. {each.outcome} in step {run.steps[each.step]?.label}
            </button>
          ))}
        </div>
      )}
      {chosen && (
        <>
          <Funnel attempt={chosen} total={nodesAt(run, chosen.step)} />
          <Preemption attempt={chosen} run={run} />
          {chosen.cells ? (
            <Matrix cells={chosen.cells} winner={chosen.node} verdicts={run.verdicts} />
          ) : (
            <p className="hint">
              The scores of this attempt are not in this page
              {pod === named.at(-1) ? <>; <code>seatrial explain {run.name} {name}</code> shows them</> : ""}.
            </p>
          )}
        </>
      )}
    </section>
  );
}

function nodesAt(run: Run, step: number): number {
  return run.nodes.from.filter((from, i) => from <= step && (run.nodes.to[i] < 0 || run.nodes.to[i] >= step)).length;
}

/** The explanation in one breath. */
export function sentence(run: Run, pod: number, attempt: Attempt | undefined): string {
  if (pod < 0) return "There is no such pod in this run.";
  const gone = (victims(run).get(pod) ?? []).map((victim) => run.pods.key[victim]);
  const freed = gone.length ? ` It preempted ${gone.length > 1 ? `${gone.length} pods: ` : ""}${gone.join(", ")}.` : "";
  return placement(run, pod, attempt) + freed;
}

function placement(run: Run, pod: number, attempt: Attempt | undefined): string {
  const key = run.pods.key[pod];
  if (!attempt) return `${key} was not tried by a scheduler in this run, or its attempts are not in this page.`;
  if (attempt.outcome !== "scheduled") {
    return `${key} was not placed: ${attempt.message || attempt.outcome}`;
  }
  const [first, second] = attempt.best;
  if (attempt.feasible === 1) return `${key} went to ${attempt.node}, the only node that could take it.`;
  if (!first) return `${key} went to ${attempt.node}.`;
  const ties = attempt.cells ? attempt.cells.total.filter((total) => total === first[1]).length : 0;
  const lead = second ? `, ${first[1] - second[1]} ahead of ${second[0]}` : "";
  if (ties > 1) {
    return `${key} went to ${attempt.node}: it shares the highest total (${first[1]}) with ${ties - 1} of ${attempt.feasible} feasible nodes and won the tie.`;
  }
  return `${key} went to ${attempt.node}: of ${attempt.feasible} feasible nodes it has the highest total (${first[1]}${lead}).`;
}

function Funnel({ attempt, total }: { attempt: Attempt; total: number }) {
  const stages: [string, number, string][] = [
    ["all nodes", Math.max(total, attempt.visited), ""],
    ["searched", attempt.visited, attempt.preFilter],
    ["feasible", attempt.feasible, ""],
  ];
  const most = Math.max(1, stages[0][1]);
  return (
    <div className="funnel">
      {stages.map(([name, count, note]) => (
        <div key={name}>
          <span>{name}</span>
          <div className="bar"><i style={{ width: `${(100 * count) / most}%`, background: KINDS[0] }} /></div>
          <b>{count}</b> <em>{note}</em>
        </div>
      ))}
      {attempt.reasons.map(([reason, count]) => (
        <div key={reason} className="lost">
          <span>rejected</span>
          <div className="bar"><i style={{ width: `${(100 * count) / most}%`, background: KINDS[5] }} /></div>
          <b>{count}</b> <em>{reason}</em>
        </div>
      ))}
    </div>
  );
}

function Preemption({ attempt, run }: { attempt: Attempt; run: Run }) {
  if (!attempt.victims.length) return null;
  const gone = victims(run).get(attempt.pod) ?? [];
  const priority = (key: string) => {
    const victim = gone.find((place) => run.pods.key[place] === key) ?? run.pods.key.indexOf(key);
    return run.shapes[run.pods.shape[victim]]?.priority;
  };
  const own = run.shapes[run.pods.shape[attempt.pod]]?.priority ?? 0;
  return (
    <div className="preemption">
      <h3>Preemption</h3>
      <p>
        With priority {own} it may displace lower ones. The chosen node costs least: fewest disrupted budgets, then the
        lowest priority among the victims, then the fewest victims.
      </p>
      <ul>
        {attempt.victims.map((victim) => (
          <li key={victim}>{victim} <span className="hint">priority {priority(victim) ?? "unknown"}</span></li>
        ))}
      </ul>
    </div>
  );
}

interface Score {
  node: string;
  column: number;
  total: number;
}

/** Feasible nodes by total, the winner pinned on top. */
function ranked(cells: Cells, winner: string): Score[] {
  return cells.feasible
    .map((node, column) => ({ node, column, total: cells.total[column] }))
    .sort((a, b) => (a.node === winner ? -1 : b.node === winner ? 1 : b.total - a.total));
}

/** A verdict in words: which plugin said what. */
function said(verdict: string[] | undefined): string {
  const [plugin, , ...reasons] = verdict ?? ["", ""];
  return `${plugin} said ${reasons.join(", ") || "no"}`;
}

/** Rejected nodes by verdict, the largest group first, with one node of each. */
function grouped(rejected: { node: string; verdict: number }[]): { verdict: number; count: number; node: string }[] {
  const groups = new Map<number, { verdict: number; count: number; node: string }>();
  for (const { node, verdict } of rejected) {
    const group = groups.get(verdict);
    if (group) group.count += 1;
    else groups.set(verdict, { verdict, count: 1, node });
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

function Matrix({ cells, winner, verdicts }: { cells: Cells; winner: string; verdicts: string[][] }) {
  const rows = useMemo(() => ranked(cells, winner), [cells, winner]);
  const rejected = cells.nodes
    .map((node, i) => ({ node, verdict: cells.verdicts[i] }))
    .filter((each) => each.verdict > 0);
  const best = rows.length ? Math.max(...cells.total) : 0;
  return (
    <>
      <h3>Scores</h3>
      {rows.length === 0 && <p className="hint">No node passed the filters, so nothing was scored.</p>}
      {rows.length > 0 && cells.plugins.length === 0 && <p className="hint">One node passed, so nothing was scored.</p>}
      {rows.length > 0 && cells.plugins.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label="Scores by node and plugin">
          <table>
            <thead>
              <tr>
                <th scope="col">Node</th>
                <th scope="col">Total</th>
                <th scope="col">Behind</th>
                {cells.plugins.map((plugin, p) => (
                  <th scope="col" key={plugin}>{plugin} <span className="hint">× {cells.weights[p]}</span></th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, MOST_ROWS).map(({ node, column, total }) => (
                <tr key={node} className={node === winner ? "winner" : undefined}>
                  <th scope="row">
                    {node}
                    {node === winner ? " ★" : total === best ? " (tied)" : ""}
                  </th>
                  <td>{total}</td>
                  <td>{best - total}</td>
                  {cells.plugins.map((plugin, p) => (
                    <td key={plugin} title={`raw ${cells.raw[p][column]}, normalised ${cells.normalized[p][column]}, weight ${cells.weights[p]}`}>
                      {cells.raw[p][column]} → {cells.normalized[p][column]} → <b>{cells.normalized[p][column] * cells.weights[p]}</b>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          <p className="hint">
            Cells: raw → normalised → final.{rows.length > MOST_ROWS ? ` The ${MOST_ROWS} best of ${rows.length} nodes.` : ""}
          </p>
        </div>
      )}
      {rejected.length > 0 && (
        <h3>Rejected</h3>
      )}
      {rejected.length > 0 && (
        <ul className="verdicts">
          {grouped(rejected).map(({ verdict, count, node }) => (
            <li key={verdict}>
              <b>{count}</b> {count === 1 ? "node" : "nodes"}: {said(verdicts[verdict - 1])}{" "}
              <span className="hint">for example {node}</span>
            </li>
          ))}
        </ul>
      )}
      {rejected.length > 0 && (
        <details>
          <summary>{rejected.length === 1 ? "The rejected node" : `Each of the ${rejected.length} rejected nodes`}</summary>
          <ul className="rejected">
            {rejected.slice(0, 500).map(({ node, verdict }) => (
              <li key={node}><b>{node}</b>: {said(verdicts[verdict - 1])}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
