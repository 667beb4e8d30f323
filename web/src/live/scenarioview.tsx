/** Scenarios: written with their plan beside them, run, held back, continued, and extended while they run. */
import { useMemo, useState } from "react";
import { parse as parseYaml } from "yaml";
import { counted, whole } from "../derive";
import { Name } from "../names";
import { ask, get, type KubeObject, pathOf, type Resource } from "./api";
import { useLive, useMay } from "./context";
import { parse } from "./document";
import { type Row, useFeed } from "./feed";
import { Liveness, openObject } from "./kindview";
import { YamlPane } from "./yamlpane";

interface Operation {
  id?: string;
  step?: number | { major: number };
  [field: string]: unknown;
}

const TEMPLATE = `apiVersion: simulation.kube-scheduler-simulator.x-k8s.io/v1alpha1
kind: Scenario
metadata:
  name: first
spec:
  controllers:
    simulationControllers:
      enabled:
        - name: scheduler
  operations:
    - step: 1
      createOperation:
        object:
          apiVersion: v1
          kind: Node
          metadata:
            name: node-1
          status:
            allocatable: { cpu: "4", memory: 8Gi, pods: "110" }
            capacity: { cpu: "4", memory: 8Gi, pods: "110" }
    - step: 2
      createOperation:
        object:
          apiVersion: v1
          kind: Pod
          metadata:
            name: small
            namespace: default
          spec:
            containers:
              - name: app
                image: example.com/app
                resources:
                  requests: { cpu: "1" }
    - step: 3
      doneOperation: {}
`;
const NEXT = `step: 4
createOperation:
  object:
    apiVersion: v1
    kind: Pod
    metadata:
      name: later
      namespace: default
    spec:
      containers:
        - name: app
          image: example.com/app
`;

function operationsOf(scenario: KubeObject | undefined): Operation[] {
  const found = scenario?.spec?.operations ?? scenario?.spec?.events;
  return Array.isArray(found) ? (found.filter((each) => each && typeof each === "object") as Operation[]) : [];
}

function stepOf({ step }: Operation): number {
  return typeof step === "object" && step !== null ? Number(step.major) || 0 : Number(step) || 0;
}

/** What an operation does, and to which kind: the lane that it is in. */
function verbOf(operation: Operation): [string, string] {
  const name = Object.keys(operation).find((key) => key.endsWith("Operation")) ?? "";
  const verb = name.replace("Operation", "") || String(operation.operation ?? "operation").toLowerCase();
  const body = (operation[name] ?? {}) as { object?: KubeObject; typeMeta?: { kind?: string }; objectMeta?: { name?: string } };
  const kind = body.object?.kind ?? body.typeMeta?.kind ?? "";
  return [`${verb}${kind ? ` ${kind}` : ""}`, body.object?.metadata?.name ?? body.objectMeta?.name ?? ""];
}

/** The operations over the steps: a lane for each verb and kind, a mark for each step that has some. */
export function Plan({ operations }: { operations: Operation[] }) {
  const steps = useMemo(() => [...new Set(operations.map(stepOf))].sort((a, b) => a - b), [operations]);
  const lanes = useMemo(() => {
    const found = new Map<string, Map<number, string[]>>();
    for (const operation of operations) {
      const [lane, name] = verbOf(operation);
      const cells = found.get(lane) ?? new Map<number, string[]>();
      found.set(lane, cells.set(stepOf(operation), [...(cells.get(stepOf(operation)) ?? []), name]));
    }
    return [...found];
  }, [operations]);
  if (!operations.length) return <p className="hint">No operation yet: what is below <code>operations:</code> appears here as a timeline.</p>;
  return (
    <div className="plan" tabIndex={0} role="group" aria-label="Plan">
      <table>
        <caption>Plan: {counted(operations.length, "operation")} in {counted(steps.length, "step")}</caption>
        <thead><tr><th scope="col">Operation</th>{steps.map((step) => <th scope="col" key={step}>{step}</th>)}</tr></thead>
        <tbody>
          {lanes.map(([lane, cells]) => (
            <tr key={lane}>
              <th scope="row">{lane}</th>
              {steps.map((step) => {
                const names = cells.get(step);
                return <td key={step} title={names?.join(", ")}>{names && <b className="dot">{names.length > 1 ? whole(names.length) : "●"}</b>}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function ScenarioView({ resource }: { resource: Resource }) {
  const { say } = useLive();
  const feed = useFeed(pathOf(resource));
  const version = feed?.version;
  const rows = useMemo(() => [...(feed?.rows.values() ?? [])].sort((a, b) => ((a.object.metadata.creationTimestamp ?? "") < (b.object.metadata.creationTimestamp ?? "") ? 1 : -1)), [feed, version]);
  const [text, setText] = useState(TEMPLATE);
  const mayCreate = useMay("create", resource);
  const operations = useMemo(() => operationsOf(parse(text).objects[0]), [text]);
  return (
    <section aria-labelledby="scenario-title" className="scenarios">
      <div className="tools"><h2 id="scenario-title">Scenarios</h2><Liveness feed={feed} /></div>
      <p className="hint">A scenario begins with an empty cluster: what is here now is removed when it starts. It runs in virtual time.</p>
      {rows.map((row) => <Running key={row.key} resource={resource} row={row} columns={feed?.columns.map((column) => column.name) ?? []} />)}
      {feed?.state === "live" && !rows.length && <p className="hint empty">No scenario was run on this server yet.</p>}
      {mayCreate && (
        <>
          <h3>New scenario</h3>
          <div className="halves">
            <YamlPane label="YAML of the scenario" text={text} onText={setText} verb="Run" method="POST" onDone={([made]) => say(`Scenario ${made.metadata.name} runs.`)} />
            <Plan operations={operations} />
          </div>
        </>
      )}
    </section>
  );
}

const JSON_PATCH = { "content-type": "application/json-patch+json" };

/** One scenario: how far it is, and what can be done to it. */
function Running({ resource, row, columns }: { resource: Resource; row: Row; columns: string[] }) {
  const { say } = useLive();
  const mayPatch = useMay("patch", resource);
  const [held, setHeld] = useState<Operation[]>([]);
  const [draft, setDraft] = useState<string>();
  const { name } = row.object.metadata;
  const cell = (title: string) => String(row.cells[columns.indexOf(title)] ?? "");
  const [phase, step] = [cell("Phase"), cell("Step")];
  const path = pathOf(resource, "", name);
  const attempt = (done: string, work: Promise<unknown>) => work.then(() => say(done), (error: Error) => say(error.message, true));
  const add = (operations: Operation[]) => ask("PATCH", path, operations.map((value) => ({ op: "add", path: "/spec/operations/-", value })), JSON_PATCH);
  /** Take back what lies after the step that runs: at its end the scenario is Paused, and the rest can be given again. */
  const pause = async () => {
    const scenario = await get<KubeObject>(path);
    const operations = operationsOf(scenario);
    // The next step may have begun by the time the change arrives.
    const now = 1 + Number(scenario.status?.stepStatus?.step?.major ?? scenario.status?.step?.major ?? 0);
    const later = operations.filter((operation) => stepOf(operation) > now);
    const unedited = { op: "test", path: "/metadata/generation", value: scenario.metadata.generation };
    await ask("PATCH", path, [unedited, { op: "replace", path: "/spec/operations", value: operations.filter((operation) => stepOf(operation) <= now) }], JSON_PATCH);
    setHeld(later);
  };
  const isOpen = phase === "Running" || phase === "Paused" || phase === "Pending";
  return (
    <article className="scenario" aria-label={`Scenario ${name}`}>
      <div className="tools">
        <button type="button" className="link" onClick={() => openObject(resource, "", name)}><Name text={name} /></button>
        <span className={`phase ${phase.toLowerCase()}`} role="status">{phase || "Pending"}</span>
        {step && <span className="hint">step {step}</span>}
        {mayPatch && phase === "Running" && <button type="button" onClick={() => void attempt(`${name} pauses at the end of this step.`, pause())}>Pause</button>}
        {mayPatch && held.length > 0 && <button type="button" onClick={() => void attempt(`${name} goes on.`, add(held).then(() => setHeld([])))}>Continue with {counted(held.length, "operation")}</button>}
        {mayPatch && isOpen && <button type="button" aria-expanded={draft !== undefined} onClick={() => setDraft(draft === undefined ? NEXT : undefined)}>Add operation…</button>}
        {mayPatch && phase === "Paused" && <button type="button" onClick={() => void attempt(`${name} ends.`, add([{ step: (Number.parseInt(step, 10) || 0) + 1, doneOperation: {} }]))}>Finish</button>}
      </div>
      {cell("Message") && <p className="hint"><bdi>{cell("Message")}</bdi></p>}
      {draft !== undefined && (
        <form onSubmit={(event) => {
          event.preventDefault();
          try {
            void attempt(`Added to ${name}.`, add([parseYaml(draft) as Operation]).then(() => setDraft(undefined)));
          } catch (error) {
            say((error as Error).message, true);
          }
        }}>
          <label>Operation <textarea rows={10} value={draft} onChange={(event) => setDraft(event.target.value)} spellCheck={false} /></label>
          <button type="submit" className="main">Add</button>
        </form>
      )}
    </article>
  );
}
