/** One run: the cluster playing, the decision at the cursor, and tables of everything. */
import { useMemo, useState } from "react";
import { go, useAddress, visit } from "./address";
import { Choice, colours } from "./choice";
import { Curves } from "./curves";
import { addressOf, axis, beginning, counted, groupingLabels, levels, podOf, victims } from "./derive";
import { DecisionPanel, useDetail } from "./decisionpanel";
import { Frame, Omitted, type View } from "./frame";
import { Name } from "./names";
import { colouring, NodeMap } from "./nodemap";
import { type Player, usePlayer } from "./player";
import { Queue } from "./queue";
import type { Run } from "./run";
import { Nodes, Pods, Workloads } from "./tables";
import { Timeline } from "./timeline";
import { VolcanoSections } from "./volcano";
import { WorkloadsAtEnd, WorkloadsLine } from "./workloads";

export function Headline({ run }: { run: Run }) {
  return (
    <>
      <p className="verdict-line">
        <span className={`phase ${run.phase.toLowerCase()}`}>{run.phase}</span> {run.message}
      </p>
      <WorkloadsLine run={run} />
      <dl className="headline">
        {run.headline.map(({ label, value, hint, show }) => (
          <div key={label} title={hint}>
            <dt>{label}</dt>
            <dd>
              {show && value !== "0" ? (
                <a href={`#view=pods&show=${show}`} onClick={(event) => {
                  event.preventDefault();
                  go({ view: "pods", show, search: "", node: "" }, { push: true });
                }}>{value}</a>
              ) : value}
            </dd>
          </div>
        ))}
      </dl>
      <Omitted texts={run.omitted} />
    </>
  );
}

/** The pod and the attempt that the page is about: what the address names, else the decision at the cursor. */
function useSubject(player: Player): { pod: number; attempt: number } {
  const address = useAddress();
  usePlayer(player);
  const { run } = player;
  const named = useMemo(() => (address.pod ? podOf(run, address.pod, address.life) : -1), [run, address.pod, address.life]);
  if (!address.pod) return { pod: player.attempt < 0 ? -1 : run.attempts.pod[player.attempt], attempt: player.attempt };
  const tries = named >= 0 ? run.attemptsOf(named) : [];
  const attempt = tries.findLast((each) => run.tickOf[each] <= player.tick) ?? tries[0] ?? -1;
  return { pod: named, attempt };
}

function selectPod(run: Run, pod: number) {
  visit({ ...addressOf(run, pod), attempt: "", step: "", decision: "" });
}

function Decision({ player, isWide }: { player: Player; isWide?: boolean }) {
  const address = useAddress();
  const { pod, attempt } = useSubject(player);
  return (
    <DecisionPanel
      run={player.run}
      replay={player.replays[0]}
      {...{ pod, attempt, isWide }}
      name={address.pod}
      onAttempt={(each) => player.toAttempt(each)}
      onClose={address.pod ? () => go({ pod: "", life: "", attempt: "" }) : undefined}
    />
  );
}

function MapOfRun({ player }: { player: Player }) {
  const address = useAddress();
  const { pod, attempt } = useSubject(player);
  const { run } = player;
  const replay = player.replays[0];
  const detail = useDetail(run, attempt);
  const groups = useMemo(() => groupingLabels(run), [run]);
  const by = address.colour ?? address.resource ?? run.resources[0];
  const resource = Math.max(0, run.resources.indexOf(by.replace("free:", "")));
  const gone = useMemo(() => (pod < 0 ? [] : victims(run).get(pod) ?? []), [run, pod]);
  const target = attempt < 0 ? -1 : run.attempts.node[attempt] >= 0 ? run.attempts.node[attempt] : run.attempts.nominated[attempt];
  return (
    <section className="map" aria-label="Nodes">
      <div className="tools">
        <h2>{counted(replay.nodesThere, "node")}</h2>
        <Choice label="Colour by" value={by} options={colours(run, detail?.cells?.plugins ?? [])} onChange={(value) => go({ colour: value, resource: "" })} />
        <Choice label="Group by" value={address.group ?? ""} options={[["", "nothing"], ...groups.map((key): [string, string] => [key, key])]} onChange={(value) => go({ group: value })} />
        {address.node && <button type="button" onClick={() => go({ node: "" })}>Forget <Name text={address.node} /></button>}
        {address.node && <button type="button" onClick={() => go({ view: "pods", show: "", search: "" }, { push: true })}>Its pods</button>}
      </div>
      <NodeMap
        replay={replay}
        colour={colouring(replay, by, detail?.cells)}
        resource={resource}
        group={address.group ?? ""}
        selected={address.node}
        onSelect={(node) => go({ node: node === address.node ? "" : node })}
        {...{ target, pod }}
        victims={gone}
        flight={player.flown}
        label={`Map of ${counted(run.nodes.name.length, "node")}`}
      />
    </section>
  );
}

const PARTS: [string, string][] = [["map", "Map"], ["queue", "Queue"], ["decision", "Decision"]];

/** Three columns; on a phone they are tabs. */
function Play({ player }: { player: Player }) {
  const address = useAddress();
  const [part, setPart] = useState(address.pod || address.decision ? "decision" : "map");
  return (
    <div className="play" data-part={part}>
      <div className="parts" role="group" aria-label="Part">
        {PARTS.map(([key, title]) => <button type="button" key={key} aria-pressed={part === key} onClick={() => setPart(key)}>{title}</button>)}
      </div>
      <Queue player={player} selected={address.pod ? podOf(player.run, address.pod, address.life) : -1} onSelect={(pod) => selectPod(player.run, pod)} />
      <MapOfRun player={player} />
      <div className="side"><Decision player={player} /></div>
    </div>
  );
}

function Times({ player }: { player: Player }) {
  usePlayer(player);
  const address = useAddress();
  const { run } = player;
  const step = Math.max(0, player.step);
  const range = useMemo<[number, number]>(() => {
    const [from, to] = (address.range ?? "").split("-").map(Number);
    return to > from ? [from, to] : [0, Math.max(1, run.steps.length)];
  }, [address.range, run]);
  const places = useMemo(() => axis(run), [run]);
  const labels = useMemo(() => [beginning(run), ...run.steps.map((each) => each.label)], [run]);
  const { rates, queue } = useMemo(() => {
    const { allocation, waiting, preempted } = levels(run);
    const names = run.resources.filter((name) => name !== "pods").slice(0, 4);
    return {
      rates: names.map((name) => ({ name, values: allocation[run.resources.indexOf(name)] })),
      queue: [{ name: "waiting", values: waiting }, { name: "preempted in the step", values: preempted, isBar: true }],
    };
  }, [run]);
  const setStep = (place: number) => player.toStep(place);
  return (
    <>
      <Timeline run={run} step={step} range={range} onStep={setStep} onRange={([from, to]) => go({ range: from === 0 && to === run.steps.length ? "" : `${from.toFixed(2)}-${to.toFixed(2)}` })} />
      {run.steps.length > 1 && (
        <div className="pair">
          <Curves title="Allocation of the cluster" unit="%" {...{ labels, places, step: player.step + 1 }} curves={rates} onStep={(at) => setStep(at - 1)} />
          <Curves title="Waiting and preempted pods" unit="" {...{ labels, places, step: player.step + 1 }} curves={queue} onStep={(at) => setStep(at - 1)} />
        </div>
      )}
    </>
  );
}

export function Report({ player, home }: { player: Player; home?: React.ReactNode }) {
  const address = useAddress();
  const { run } = player;
  const replay = player.replays[0];
  const pod = useMemo(() => (address.pod ? podOf(run, address.pod, address.life) : -1), [run, address.pod, address.life]);
  const views: View[] = [
    { key: "play", title: "Play", content: () => <Play player={player} /> },
    { key: "decision", title: "Decision", content: () => <Decision player={player} isWide /> },
    { key: "timeline", title: "Timeline", content: () => <Times player={player} /> },
    { key: "workloads", title: "Workloads", content: () => <><WorkloadsAtEnd run={run} /><Workloads player={player} replay={replay} onOpen={(search) => go({ view: "pods", search, show: "", node: "" }, { push: true })} /></> },
    {
      key: "pods",
      title: "Pods",
      content: () => (
        <Pods
          run={run}
          search={address.search ?? ""}
          onSearch={(search) => go({ search })}
          node={address.node ?? ""}
          show={address.show ?? ""}
          onShow={(show) => go({ show })}
          selected={pod}
          onSelect={(chosen) => visit({ ...addressOf(run, chosen), attempt: "", step: "", decision: "", view: "decision" })}
        />
      ),
    },
    { key: "nodes", title: "Nodes", content: () => <Nodes player={player} selected={address.node ?? ""} onSelect={(node) => go({ node, view: "" }, { push: true })} /> },
    ...(run.volcano ? [{ key: "queues", title: "Queues and jobs", content: () => <VolcanoOfRun player={player} /> }] : []),
  ];
  return (
    <Frame
      title={<Name text={run.title} />}
      summary={<Headline run={run} />}
      home={home}
      views={views}
      player={player}
      footer={`Seatrial ${run.version}. The address of this page reopens what you see.`}
    />
  );
}

function VolcanoOfRun({ player }: { player: Player }) {
  usePlayer(player);
  return <VolcanoSections run={player.run} step={Math.max(0, player.step)} onStep={(place) => player.toStep(place)} />;
}
