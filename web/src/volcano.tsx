/** Volcano: what queues hold, deserve and are guaranteed over the steps, and every job with the reason why it waits. */
import { useMemo, useState } from "react";
import { Curves } from "./curves";
import { axis, counted } from "./derive";
import type { Run } from "./run";
import { type Column, Table } from "./tables";

export interface Volcano {
  /** One entry a queue and resource; `allocated` has one value a step. */
  queues: {
    queue: string;
    resource: string;
    deserved: number | null;
    guarantee: number | null;
    allocated: number[];
  }[];
  jobs: {
    job: string[];
    queue: string[];
    min_member: number[];
    running: number[];
    phase: string[];
    inqueue_s: (number | null)[];
    running_s: (number | null)[];
    reason: string[];
  };
}

function seconds(value: number | null): string {
  return value === null ? "" : `${Math.round(value * 10) / 10} s`;
}

function Queues({ run, volcano, step, onStep }: {
  run: Run;
  volcano: Volcano;
  step: number;
  onStep: (step: number) => void;
}) {
  const resources = useMemo(() => [...new Set(volcano.queues.map((each) => each.resource))].sort(), [volcano]);
  const [resource, setResource] = useState(resources[0] ?? "");
  const labels = useMemo(() => run.steps.map((each) => each.label), [run]);
  // Without the state before the first step, of which nothing is told.
  const places = useMemo(() => Array.from(axis(run)).slice(1), [run]);
  const unit = resource === "memory" ? " Gi" : "";
  const charts = useMemo(
    () => volcano.queues.filter((each) => each.resource === resource && each.queue !== "root").map((each) => {
      const scale = resource === "memory" ? 2 ** 30 : 1;
      const level = (value: number) => labels.map(() => value / scale);
      const curves = [{ name: "allocated", values: each.allocated.map((value) => value / scale) }];
      if (each.deserved !== null) curves.push({ name: "deserved", values: level(each.deserved) });
      if (each.guarantee !== null) curves.push({ name: "guarantee", values: level(each.guarantee) });
      return { queue: each.queue, curves };
    }),
    [volcano, resource, labels],
  );
  return (
    <section aria-labelledby="queues-title">
      <h2 id="queues-title">Queues</h2>
      <label>
        Resource{" "}
        <select value={resource} onChange={(event) => setResource(event.target.value)}>
          {resources.map((name) => <option key={name}>{name}</option>)}
        </select>
      </label>
      <div className="pair">
        {charts.map(({ queue, curves }) => (
          <Curves key={queue} title={`Queue ${queue}`} unit={unit} labels={labels} places={places} curves={curves} step={step} onStep={onStep} />
        ))}
      </div>
    </section>
  );
}

function Jobs({ volcano }: { volcano: Volcano }) {
  const { jobs } = volcano;
  const rows = useMemo(() => jobs.job.map((_, i) => i), [jobs]);
  const columns = useMemo<Column<number>[]>(
    () => [
      { title: "Job", value: (i) => jobs.job[i] },
      { title: "Queue", value: (i) => jobs.queue[i] },
      { title: "Phase", value: (i) => jobs.phase[i] },
      { title: "Pods running", value: (i) => jobs.running[i], text: (i) => `${jobs.running[i]} of ${jobs.min_member[i]}` },
      { title: "Let in after", value: (i) => jobs.inqueue_s[i] ?? -1, text: (i) => seconds(jobs.inqueue_s[i]) },
      { title: "Running after", value: (i) => jobs.running_s[i] ?? -1, text: (i) => seconds(jobs.running_s[i]) },
    ],
    [jobs],
  );
  const waiting = rows.filter((i) => jobs.reason[i]);
  return (
    <section aria-labelledby="jobs-title">
      <h2 id="jobs-title">Jobs</h2>
      <Table label="Jobs" rows={rows} columns={columns} />
      {waiting.length > 0 && (
        <>
          <h3>Why jobs wait</h3>
          <ul className="plain" aria-label="Why jobs wait">
            {waiting.slice(0, 100).map((i) => <li key={jobs.job[i]}>{jobs.reason[i]}</li>)}
          </ul>
          {waiting.length > 100 && <p className="hint">{counted(waiting.length - 100, "more job")} {waiting.length === 101 ? "waits" : "wait"}</p>}
        </>
      )}
    </section>
  );
}

export function VolcanoSections({ run, step, onStep }: { run: Run; step: number; onStep: (step: number) => void }) {
  if (!run.volcano) return null;
  return (
    <>
      {run.volcano.queues.length > 0 && <Queues run={run} volcano={run.volcano} step={step} onStep={onStep} />}
      {run.volcano.jobs.job.length > 0 && <Jobs volcano={run.volcano} />}
    </>
  );
}
