/** One decision: why this pod is where it is, or has no node. */
import { useEffect, useMemo, useState } from "react";
import { visit } from "./address";
import type { Detail } from "./data";
import { funnel, gaps, missing, nearest, type Row, rowsOfMatrix, sentence, type Stage } from "./decision";
import { addressOf, counted, podsNamed, victims, whole } from "./derive";
import { Matrix } from "./matrix";
import { Name } from "./names";
import type { Replay } from "./replay";
import type { Run } from "./run";

/** The details of an attempt: at once where they are here, else as soon as they come. */
export function useDetail(run: Run, attempt: number): Detail | undefined {
  const now = useMemo(() => (attempt < 0 ? undefined : run.source.decisionNow(attempt)), [run, attempt]);
  const [later, setLater] = useState<{ attempt: number; detail: Detail }>();
  useEffect(() => {
    if (attempt < 0 || now) return;
    let isWanted = true;
    const timer = setTimeout(() => {
      run.source.decision(attempt).then((detail) => isWanted && setLater({ attempt, detail }), () => undefined);
    }, 60);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [run, attempt, now]);
  return now ?? (later?.attempt === attempt ? later.detail : undefined);
}

/** A value once it has rested: the matrix is not built for each frame of a scrub. */
export function useRested<T>(value: T, milliseconds: number): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    if (rested === value) return;
    const timer = setTimeout(() => setRested(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, rested, milliseconds]);
  return rested;
}

interface Props {
  run: Run;
  replay: Replay;
  /** The pod and the attempt at it; -1: there is none. */
  pod: number;
  attempt: number;
  name?: string;
  title?: string;
  onAttempt?: (attempt: number) => void;
  onClose?: () => void;
  isWide?: boolean;
}

export function DecisionPanel({ run, replay, pod, attempt, name, title, onAttempt, onClose, isWide }: Props) {
  const rested = useRested(attempt, 200);
  const detail = useDetail(run, attempt);
  const key = pod >= 0 ? run.pods.key[pod] : (name ?? "");
  const id = `decision-${title ?? "title"}`.replaceAll(/\W+/g, "-");
  const named = podsNamed(run, key);
  const which = named.length > 1 && pod >= 0 ? ` (${named.indexOf(pod) + 1} of ${named.length} pods of this name)` : "";
  const tries = pod >= 0 ? run.attemptsOf(pod) : [];
  const gone = useMemo(() => (pod < 0 ? [] : (victims(run).get(pod) ?? [])), [run, pod]);
  if (pod < 0 && !name) {
    return (
      <section className="decision" aria-label="Decision">
        <h2>Decision</h2>
        <p className="hint">No scheduler has decided anything yet. Press the right arrow key, or Next decision in the bar below, for the first one.</p>
      </section>
    );
  }
  return (
    <section className="decision" aria-labelledby={id}>
      <h2 id={id}>
        <span>{title ?? <>Why <Name text={key} />?</>}{which}</span>
        {onClose && <button type="button" onClick={onClose} aria-label="Close explanation">✕</button>}
      </h2>
      {attempt >= 0 && (
        <p className="hint">
          {run.steps.length ? `Decision ${whole(attempt + 1)} of ${whole(run.tickOf.length)}, step ${run.steps[run.attempts.step[attempt]]?.label}.${run.attempts.minor[attempt]}` : `Attempt ${whole(attempt + 1)} of ${whole(run.tickOf.length)}`}: {run.outcomeOf(attempt)}
        </p>
      )}
      <p className="sentence">{sentence(run, pod, attempt, detail, gone.map((victim) => run.pods.key[victim]))}</p>
      {tries.length > 1 && (
        <div className="chips" role="group" aria-label="Attempts">
          {tries.slice(-12).map((each) => (
            <button type="button" key={each} aria-pressed={each === attempt} onClick={() => onAttempt?.(each)}>
              {tries.indexOf(each) + 1}. {run.outcomeOf(each)}{run.steps.length > 0 && ` in step ${run.steps[run.attempts.step[each]]?.label}`}
            </button>
          ))}
        </div>
      )}
      {rested >= 0 && rested === attempt && <Body {...{ run, replay, pod, attempt, detail, gone, isWide }} />}
    </section>
  );
}

function Body({ run, replay, pod, attempt, detail, gone, isWide }: {
  run: Run; replay: Replay; pod: number; attempt: number; detail: Detail | undefined; gone: number[]; isWide?: boolean;
}) {
  const [plugin, setPlugin] = useState("");
  const [pinned, setPinned] = useState<string[]>([]);
  useEffect(() => {
    setPlugin("");
    setPinned([]);
  }, [attempt]);
  const winner = run.nodes.name[run.attempts.node[attempt]] ?? "";
  const cells = detail?.cells;
  const rows = useMemo(() => (cells ? rowsOfMatrix(cells, winner) : []), [cells, winner]);
  const stages = useMemo(() => funnel(run, attempt, detail, replay.nodesThere), [run, attempt, detail, replay]);
  return (
    <>
      {run.attempts.visited[attempt] > 0 || run.outcomeOf(attempt) !== "scheduled" ? <Funnel stages={stages} plugin={plugin} onPlugin={setPlugin} /> : (
        <p className="hint">The scheduler that placed it recorded no verdicts about single nodes.{run.volcano && <> {" "}<a href="#view=queues" onClick={(event) => {
          event.preventDefault();
          visit({ view: "queues" });
        }}>Queues and jobs</a> has its gang.</>}</p>
      )}
      <Preemption {...{ run, pod, attempt, detail, gone }} />
      <Answers detail={detail} />
      {!detail && <p className="hint" role="status">Loading this decision…</p>}
      {detail && !cells && (
        <p className="hint">
          The scores of this attempt are not in this page; <code>seatrial ui</code> shows those of every attempt, and{" "}
          <code>seatrial explain {run.name} {run.pods.key[pod]}</code> those of this one.
        </p>
      )}
      {cells && rows.length > 0 && (
        <>
          <WhyNot {...{ replay, attempt, cells, rows, gone, pinned }} winner={rows.find((row) => row.node === winner)} onPin={setPinned} />
          <Matrix {...{ cells, rows, winner, plugin, pinned, isWide }} onPlugin={setPlugin} onPin={setPinned} />
        </>
      )}
    </>
  );
}

function Funnel({ stages, plugin, onPlugin }: { stages: Stage[]; plugin: string; onPlugin: (plugin: string) => void }) {
  const most = Math.max(1, stages[0].left);
  return (
    <div className="funnel" role="group" aria-label="Funnel of filters">
      {stages.map((stage, i) => {
        const bar = (
          <div className="share">
            <i className="left" style={{ width: `${(100 * stage.left) / most}%` }} />
            <i className="lost" style={{ width: `${(100 * stage.lost) / most}%` }} />
          </div>
        );
        const name = stage.plugin ? (
          <button type="button" aria-pressed={plugin === stage.plugin} title="Show the nodes it rejected" onClick={() => onPlugin(plugin === stage.plugin ? "" : stage.plugin!)}>
            {stage.name}
          </button>
        ) : stage.name;
        return (
          <div key={i} className="stage">
            <span className="what">{name}</span>
            {bar}
            <b>{whole(stage.left)}</b>
            {(stage.lost > 0 || stage.reason) && <em>{stage.lost > 0 && stage.plugin ? `−${whole(stage.lost)}: ` : ""}{stage.reason}</em>}
          </div>
        );
      })}
    </div>
  );
}

function Preemption({ run, pod, attempt, detail, gone }: { run: Run; pod: number; attempt: number; detail: Detail | undefined; gone: number[] }) {
  const names = detail?.victims ?? [];
  const aim = run.attempts.nominated[attempt];
  if (!names.length && aim < 0) return null;
  const priority = (each: number) => run.shapes[run.pods.shape[each]]?.priority;
  return (
    <div className="preemption">
      <h3>Preemption</h3>
      {aim >= 0 && <p>Nominated node: <Name text={run.nodes.name[aim]} /></p>}
      {names.length > 0 && (
        <>
          <p className="hint">
            With priority {whole(priority(pod) ?? 0)} it may displace lower ones. The chosen node costs least: fewest disrupted
            budgets, then the lowest priority among the victims, then the fewest victims.
          </p>
          <ul>
            {names.map((name) => {
              const victim = gone.find((place) => run.pods.key[place] === name) ?? podsNamed(run, name)[0] ?? -1;
              const budgets = run.budgets.get(victim);
              return (
                <li key={name}>
                  <button type="button" className="link" onClick={() => visit({ ...addressOf(run, victim), step: "", decision: "", attempt: "" })} disabled={victim < 0}>
                    <Name text={name} />
                  </button>{" "}
                  <span className="hint">
                    priority {priority(victim) ?? "unknown"}, {budgets ? `PodDisruptionBudget ${budgets.join(", ")}` : "no PodDisruptionBudget"}
                  </span>
                </li>
              );
            })}
          </ul>
        </>
      )}
    </div>
  );
}

/** What extenders and the plugins after the filters answered. */
function Answers({ detail }: { detail: Detail | undefined }) {
  const lines = [
    ...(detail?.postFilter ?? []).filter(([plugin]) => plugin).map(([plugin, code, ...reasons]) => [`PostFilter ${plugin}`, [code, ...reasons].join(": ")]),
    ...Object.entries(detail?.extenders ?? {}).flatMap(([verb, answers]) => answers.map(([who, what]) => [`Extender ${who} (${verb})`, what])),
    ...Object.entries(detail?.points ?? {}).flatMap(([point, answers]) => answers.filter(([, what]) => what && what !== "success").map(([who, what]) => [`${point} ${who}`, what])),
  ];
  if (!lines.length) return null;
  return (
    <div className="answers">
      <h3>Answers of plugins and extenders</h3>
      <dl>{lines.map(([who, what], i) => <div key={i}><dt>{who}</dt><dd>{what}</dd></div>)}</dl>
    </div>
  );
}

/** "Why A and not B", and what would have to change for a node. */
function WhyNot({ replay, attempt, cells, rows, winner, gone, pinned, onPin }: {
  replay: Replay; attempt: number; cells: NonNullable<Detail["cells"]>; rows: Row[]; winner: Row | undefined; gone: number[];
  pinned: string[]; onPin: (nodes: string[]) => void;
}) {
  const [text, setText] = useState("");
  const found = pinned.map((node) => rows.find((row) => row.node === node)).filter((row) => row !== undefined);
  const [one, other] = found.length > 1 ? found : [winner, found[0]];
  const closest = useMemo(() => (winner ? undefined : nearest(replay, attempt, cells, rows, gone)), [winner, replay, attempt, cells, rows, gone]);
  return (
    <div className="whynot">
      <h3>What would have to change?</h3>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = rows.find((row) => row.node === text.trim()) ?? rows.find((row) => row.node.includes(text.trim()));
          if (wanted && text.trim()) onPin([wanted.node]);
        }}
      >
        <label>
          Why not{" "}
          <input list="nodes-of-decision" value={text} onChange={(event) => setText(event.target.value)} placeholder={rows.at(-1)?.node ?? "a node"} />
        </label>
        <datalist id="nodes-of-decision">{rows.slice(0, 50).map((row) => <option key={row.node} value={row.node} />)}</datalist>
        <button type="submit">Ask</button>
      </form>
      {found.length === 0 && <p className="hint">Name a node, or pin one or two rows of the matrix to compare them.</p>}
      {[...found, ...(closest && !found.length ? [closest] : [])].map((row) => (
        <div key={row.node} className="answer" aria-live="polite">
          <b><Name text={row.node} /></b>{row === closest && !found.length && " lacks least:"}
          <ul>{missing(replay, attempt, cells, row, winner, gone).map((line) => <li key={line}>{line}</li>)}</ul>
        </div>
      ))}
      {one && other && one.node !== other.node && one.column >= 0 && other.column >= 0 && cells.plugins.length > 0 && (
        <Duel cells={cells} one={one} other={other} />
      )}
    </div>
  );
}

function Duel({ cells, one, other }: { cells: NonNullable<Detail["cells"]>; one: Row; other: Row }) {
  const lines = gaps(cells, one, other);
  const most = Math.max(1, ...lines.map((line) => Math.abs(line.difference)));
  const equal = lines.filter((line) => line.difference === 0).length;
  return (
    <table className="duel">
      <caption>Why {one.node} and not {other.node}: {whole(one.total - other.total)} points</caption>
      <thead><tr><th scope="col">Plugin</th><th scope="col">{one.node}</th><th scope="col">{other.node}</th><th scope="col">Difference</th></tr></thead>
      <tbody>
        {lines.filter((line) => line.difference !== 0).map((line) => (
          <tr key={line.plugin}>
            <th scope="row">{line.plugin}</th>
            <td>{whole(line.mine)}</td>
            <td>{whole(line.theirs)}</td>
            <td>
              <span className="balance"><i style={{ width: `${(50 * Math.abs(line.difference)) / most}%`, left: line.difference < 0 ? `${50 - (50 * Math.abs(line.difference)) / most}%` : "50%" }} data-sign={Math.sign(line.difference)} /></span>
              {line.difference > 0 ? "+" : ""}{whole(line.difference)}
            </td>
          </tr>
        ))}
        {equal > 0 && <tr><td colSpan={4} className="hint">{counted(equal, "plugin")} {equal === 1 ? "gives" : "give"} both the same</td></tr>}
      </tbody>
    </table>
  );
}
