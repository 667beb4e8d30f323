/** The report of one run. */
import { useMemo } from "react";
import { useAddress } from "./address";
import { Curves } from "./curves";
import type { Run } from "./data";
import { addressOf, allocation, axis, groupingLabels, pending, podOf, preemptions, stepOf } from "./derive";
import { Explanation } from "./explanation";
import { HeatMap } from "./heatmap";
import { Nodes, Pods } from "./tables";
import { Timeline } from "./timeline";
import { VolcanoSections } from "./volcano";

export function StepChooser({ run, step, onStep }: { run: Run; step: number; onStep: (step: number) => void }) {
  return (
    <label className="step">
      Step {run.steps[step]?.label}
      <input
        type="range"
        min={0}
        max={Math.max(0, run.steps.length - 1)}
        value={step}
        aria-valuetext={`step ${run.steps[step]?.label}`}
        onChange={(event) => onStep(Number(event.target.value))}
      />
    </label>
  );
}

export function Choice({ label, value, options, onChange }: {
  label: string;
  value: string;
  options: [string, string][];
  onChange: (value: string) => void;
}) {
  return (
    <label>
      {label}{" "}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map(([key, text]) => <option key={key} value={key}>{text}</option>)}
      </select>
    </label>
  );
}

export function Report({ run }: { run: Run }) {
  const [address, go] = useAddress();
  const last = Math.max(0, run.steps.length - 1);
  const step = stepOf(run, address.step);
  const resource = Math.max(0, run.resources.indexOf(address.resource ?? run.resources[0]));
  const range = useMemo<[number, number]>(() => {
    const [from, to] = (address.range ?? "").split("-").map(Number);
    return to > from ? [from, to] : [0, Math.max(1, run.steps.length)];
  }, [address.range, run]);
  const setStep = (value: number) => go({ step: value === last ? "" : run.steps[value].label });
  const places = useMemo(() => axis(run), [run]);
  const labels = useMemo(() => run.steps.map((each) => each.label), [run]);
  const rates = useMemo(
    () => run.resources.filter((name) => name !== "pods").slice(0, 4).map((name) => ({
      name,
      values: allocation(run, run.resources.indexOf(name)),
    })),
    [run],
  );
  const queue = useMemo(
    () => [{ name: "pending", values: pending(run) }, { name: "preempted", values: preemptions(run) }],
    [run],
  );
  const groups = useMemo(() => groupingLabels(run), [run]);
  const pod = useMemo(() => (address.pod ? podOf(run, address.pod, address.life) : -1), [run, address.pod, address.life]);
  return (
    <main>
      <header>
        <h1>{run.title}</h1>
        <p>
          <span className={`phase ${run.phase.toLowerCase()}`}>{run.phase}</span> {run.message}
        </p>
        {run.omitted.map((text) => <p className="omitted" key={text}>{text}</p>)}
      </header>
      <dl className="headline">
        {run.headline.map(({ label, value, hint, show }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              {show && value !== "0" ? (
                <a
                  href={`#show=${show}`}
                  onClick={(event) => {
                    event.preventDefault();
                    go({ show, search: "", node: "" }, { push: true });
                    document.getElementById("pods-title")?.scrollIntoView({ behavior: "smooth" });
                  }}
                >
                  {value}
                </a>
              ) : value}
              <small>{hint}</small>
            </dd>
          </div>
        ))}
      </dl>
      <Timeline
        run={run}
        step={step}
        range={range}
        onStep={setStep}
        onRange={([from, to]) => go({ range: from === 0 && to === run.steps.length ? "" : `${from.toFixed(2)}-${to.toFixed(2)}` })}
      />
      <section aria-labelledby="map-title">
        <h2 id="map-title">Nodes by requested share</h2>
        <div className="tools">
          {last > 0 && <StepChooser run={run} step={step} onStep={setStep} />}
          <Choice
            label="Colour by"
            value={run.resources[resource]}
            options={run.resources.map((name) => [name, name])}
            onChange={(value) => go({ resource: value })}
          />
          <Choice
            label="Group by"
            value={address.group ?? ""}
            options={[["", "nothing"], ...groups.map((key): [string, string] => [key, key])]}
            onChange={(value) => go({ group: value })}
          />
          {address.node && <button onClick={() => go({ node: "" })}>Forget {address.node}</button>}
        </div>
        <HeatMap
          run={run}
          resource={resource}
          step={step}
          group={address.group ?? ""}
          selected={address.node}
          onSelect={(node) => go({ node })}
        />
      </section>
      {last > 0 && (
        <div className="pair">
          <Curves title="Allocation of the cluster" unit="%" {...{ labels, places, step }} curves={rates} onStep={setStep} />
          <Curves title="Waiting and preempted pods" unit="" {...{ labels, places, step }} curves={queue} onStep={setStep} />
        </div>
      )}
      <VolcanoSections run={run} step={step} onStep={setStep} />
      {address.pod && (
        <Explanation
          run={run}
          name={address.pod}
          pod={pod}
          attempt={address.attempt === undefined ? Number.MAX_SAFE_INTEGER : Number(address.attempt)}
          onAttempt={(attempt) => go({ attempt: String(attempt) })}
          onClose={() => go({ pod: "", life: "", attempt: "" })}
        />
      )}
      <Pods
        run={run}
        search={address.search ?? ""}
        onSearch={(search) => go({ search })}
        node={address.node ?? ""}
        show={address.show ?? ""}
        onShow={(show) => go({ show })}
        selected={pod}
        onSelect={(chosen) => go({ ...addressOf(run, chosen), attempt: "" }, { push: true })}
      />
      <Nodes run={run} step={step} selected={address.node ?? ""} onSelect={(node) => go({ node })} />
      <footer>
        Seatrial {run.version}. This file is the whole report; the address of this page reopens what you see.
      </footer>
    </main>
  );
}
