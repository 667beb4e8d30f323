/** The scheduler's configuration: edited as YAML or by weights, checked by the server, seen expanded, and applied. */
import { useEffect, useMemo, useState } from "react";
import { parseDocument, stringify } from "yaml";
import { counted } from "../derive";
import { Name } from "../names";
import { ApiError, ask, get } from "./api";
import { useLive, useMay } from "./context";
import { lineOf, parse } from "./document";
import { Editor, type Problem } from "./editor";

const PATH = "/api/v1/schedulerconfiguration";
const REST = 400;

interface PluginRef {
  name: string;
  weight?: number;
}

interface Expanded {
  profiles: { schedulerName?: string; plugins?: Record<string, { enabled?: PluginRef[] }> }[];
}

async function expand(configuration: unknown): Promise<Expanded> {
  return (await ask("POST", `${PATH}?dryRun=All`, configuration)).json() as Promise<Expanded>;
}

/** The line that a message is about: it names the field first. */
function problemOf(text: string, message: string): Problem {
  const field = /(?:profiles|extenders|percentageOfNodesToScore|parallelism|podInitialBackoffSeconds|podMaxBackoffSeconds)[\w.[\]"-]*/.exec(message)?.[0] ?? "";
  return { line: field ? lineOf(parse(text), 0, field.replaceAll('"', "")) : 0, message };
}

/** The text with another weight of a plugin in one profile. */
function withWeight(text: string, profile: number, plugin: string, weight: number): string {
  const document = parseDocument(text);
  for (const point of ["score", "multiPoint"]) {
    const enabled = (document.toJS().profiles?.[profile]?.plugins?.[point]?.enabled ?? []) as PluginRef[];
    const place = enabled.findIndex(({ name }) => name === plugin);
    if (place < 0) continue;
    document.setIn(["profiles", profile, "plugins", point, "enabled", place, "weight"], weight);
    return document.toString({ lineWidth: 0 });
  }
  const path = ["profiles", profile, "plugins", "multiPoint", "enabled"];
  if (!document.hasIn(path)) document.setIn(path, []);
  document.addIn(path, document.createNode({ name: plugin, weight }));
  return document.toString({ lineWidth: 0 });
}

export function SchedulerView() {
  const { say } = useLive();
  const mayChange = useMay("create", { group: "", plural: "schedulerconfiguration" });
  const [applied, setApplied] = useState<{ text: string; expanded: Expanded }>();
  const [text, setText] = useState("");
  const [drawn, setDrawn] = useState<{ text: string; expanded?: Expanded; problems: Problem[] }>();
  const [error, setError] = useState("");
  const load = async () => {
    const configuration = await get<object>(PATH);
    const found = stringify(configuration, { lineWidth: 0 });
    setApplied({ text: found, expanded: await expand(configuration) });
    setText(found);
  };
  useEffect(() => void load().catch((refused: Error) => setError(refused.message)), []);
  const parsed = useMemo(() => parse(text), [text]);
  useEffect(() => {
    if (!applied || !text) return;
    if (parsed.problems.length) return setDrawn({ text, problems: parsed.problems });
    let isWanted = true;
    const timer = setTimeout(() => {
      expand(parsed.objects[0]).then(
        (expanded) => isWanted && setDrawn({ text, expanded, problems: [] }),
        (refused: Error) => isWanted && setDrawn({ text, problems: [problemOf(text, refused.message)] }),
      );
    }, REST);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [text, applied]);
  const problems = useMemo(() => (drawn?.text === text ? drawn.problems : []), [drawn, text]);
  const shown = drawn?.expanded ?? applied?.expanded;
  const changes = applied && shown ? countChanges(applied.expanded, shown) : 0;
  const apply = async () => {
    try {
      await ask("POST", PATH, parsed.objects[0]);
      await load();
      say("Applied: the scheduler was restarted with this configuration, and tries waiting pods again.");
    } catch (refused) {
      const { message } = refused instanceof ApiError ? refused : new ApiError(0, String(refused));
      setDrawn({ text, problems: [problemOf(text, message)] });
      say(`Not applied: ${message}`, true);
    }
  };
  if (error) return <section aria-labelledby="scheduler-title"><h2 id="scheduler-title">Scheduler</h2><p role="alert">{error}</p></section>;
  if (!applied) return <p role="status" className="hint">Reading the configuration…</p>;
  return (
    <section aria-labelledby="scheduler-title" className="scheduler">
      <div className="tools">
        <h2 id="scheduler-title">Scheduler configuration</h2>
        <span className="hint">{text === applied.text ? "as it runs now" : changes ? `${counted(changes, "change")} not yet applied` : "means the same as the one that runs"}</span>
        {mayChange && <button type="button" className="main" disabled={text === applied.text || problems.length > 0 || drawn?.text !== text} onClick={() => void apply()}>Apply</button>}
        {text !== applied.text && <button type="button" onClick={() => setText(applied.text)}>Undo all changes</button>}
      </div>
      <p className="hint">Applying restarts the scheduler and fails a Scenario that runs.</p>
      <div className="halves">
        <div>
          <Editor label="Scheduler configuration" value={text} onChange={setText} problems={problems} isReadOnly={!mayChange} />
          <div className="problems" aria-live="polite">{problems.map((problem, i) => <p key={i}>{problem.line > 0 && <b>line {problem.line}: </b>}{problem.message}</p>)}</div>
        </div>
        <div className="expanded">
          {shown?.profiles.map((profile, i) => (
            <Points key={profile.schedulerName ?? i} profile={profile} before={applied.expanded.profiles.find((each) => each.schedulerName === profile.schedulerName)} onWeight={mayChange ? (plugin, weight) => setText(withWeight(text, i, plugin, weight)) : undefined} />
          ))}
        </div>
      </div>
    </section>
  );
}

type Profile = Expanded["profiles"][number];

function listOf(profile: Profile | undefined, point: string): PluginRef[] {
  return profile?.plugins?.[point]?.enabled ?? [];
}

function countChanges(before: Expanded, after: Expanded): number {
  const lines = (expanded: Expanded) => new Set(expanded.profiles.flatMap((profile) => Object.keys(profile.plugins ?? {}).flatMap((point) => listOf(profile, point).map(({ name, weight }, i) => `${profile.schedulerName} ${point} ${i} ${name} ${weight ?? ""}`))));
  const [old, now] = [lines(before), lines(after)];
  return [...now].filter((line) => !old.has(line)).length + Math.max(0, old.size - now.size);
}

/** The extension points of a profile with their plugins in order; what differs from the one that runs is marked. */
function Points({ profile, before, onWeight }: { profile: Profile; before: Profile | undefined; onWeight?: (plugin: string, weight: number) => void }) {
  const points = Object.keys(profile.plugins ?? {}).filter((point) => listOf(profile, point).length || listOf(before, point).length);
  return (
    <div className="profile">
      <h3><Name text={profile.schedulerName ?? "default-scheduler"} /></h3>
      <dl>
        {points.map((point) => {
          const [now, old] = [listOf(profile, point), listOf(before, point)];
          const gone = old.filter(({ name }) => !now.some((each) => each.name === name));
          return (
            <div key={point}>
              <dt>{point}</dt>
              <dd>
                <ol>
                  {now.map(({ name, weight }, i) => {
                    const was = old.find((each) => each.name === name);
                    const mark = !was ? "new" : was.weight !== weight ? `was ${was.weight ?? 0}` : old[i]?.name !== name && !gone.length && now.length === old.length ? "moved" : "";
                    return (
                      <li key={name} className={mark ? "changed" : ""}>
                        <Name text={name} />
                        {point === "score" && (onWeight
                          ? <label className="weight">× <input type="number" min={1} max={100} aria-label={`Weight of ${name}`} value={weight ?? 1} onChange={(event) => Number(event.target.value) > 0 && onWeight(name, Math.floor(Number(event.target.value)))} /></label>
                          : <span> × {weight ?? 1}</span>)}
                        {mark && <span className="hint"> {mark}</span>}
                      </li>
                    );
                  })}
                  {gone.map(({ name }) => <li key={name} className="changed gone"><s><Name text={name} /></s> <span className="hint">no longer</span></li>)}
                </ol>
              </dd>
            </div>
          );
        })}
      </dl>
    </div>
  );
}
