/** The running cluster at a glance: the map of nodes, and who waits and why. */
import { useEffect, useMemo } from "react";
import { go, useAddress } from "../address";
import { Choice, colours } from "../choice";
import { counted, groupingLabels, whole } from "../derive";
import { Name } from "../names";
import { colouring, type MapState, NodeMap } from "../nodemap";
import { ACTIVE, PLACED, type Replay } from "../replay";
import type { KubeObject } from "./api";
import { clusterOf } from "./cluster";
import { useMay, useResource } from "./context";
import { type Feed, useFeed } from "./feed";
import { Liveness, openObject } from "./kindview";
import { LiveBar } from "./livebar";
import { moment, usePast } from "./moment";

const MOST = 100;

export function useCluster() {
  const nodes = useFeed("/api/v1/nodes", { includeObject: "Object" });
  const pods = useFeed("/api/v1/pods", { includeObject: "Object" });
  const cluster = useMemo(() => clusterOf(nodes, pods), [nodes, pods, nodes?.version, pods?.version]);
  useEffect(() => {
    if (nodes && pods) moment.take(nodes, pods);
  }, [nodes, pods, nodes?.version, pods?.version]);
  return { nodes, pods, cluster };
}

export function ClusterView() {
  const { nodes, pods, cluster } = useCluster();
  const past = usePast();
  const mayCreate = useMay("create", { group: "", plural: "nodes" });
  const refused = [nodes, pods].find((feed) => feed?.state === "refused");
  const isEmpty = nodes?.state === "live" && cluster.run.nodes.name.length === 0;
  const waiting = past ? waitingThen(past, pods) : cluster.waiting.map((pod): Waiting => ({ key: keyOf(pod), why: reasonOf(pod) }));
  const count = past ? past.waiting : cluster.waiting.length;
  const [there, bound, all] = past ? [past.nodesThere, past.counts[PLACED], past.counts[PLACED] + past.waiting] : [cluster.run.nodes.name.length, cluster.bound, cluster.run.pods.key.length];
  return (
    <>
      <div className="live-cluster">
        <section className="map" aria-label="Nodes">
          <div className="tools">
            <h2>{counted(there, "node")}</h2>
            <span className="hint">{whole(bound)} of {counted(all, "pod")} on nodes</span>
            {past ? <span className="pill" role="status">as it was</span> : <Liveness feed={pods} />}
          </div>
          {refused ? <p role="alert">{refused.error}</p> : isEmpty && !past ? (
            <p className="hint empty">
              This cluster has no node yet. {mayCreate ? <><button type="button" onClick={() => go({ view: "create", of: "nodes" }, { push: true })}>Create some</button> or <button type="button" onClick={() => go({ view: "data" }, { push: true })}>import a cluster</button>.</> : "Its administrator can create some."}
            </p>
          ) : (past ?? cluster).run.nodes.name.length > 0 && <MapOfCluster cluster={past ?? cluster} />}
        </section>
        <section className="side" aria-labelledby="waiting-title">
          <h2 id="waiting-title">{count ? `${counted(count, "pod")} ${past ? "waited" : count === 1 ? "waits" : "wait"}` : past ? "No pod waited" : "No pod waits"}</h2>
          <WaitingPods pods={waiting} count={count} isPast={past !== undefined} />
        </section>
      </div>
      {!refused && <LiveBar />}
    </>
  );
}

interface Waiting {
  key: string;
  why: string;
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** Who waited at a moment, and what became of it since. */
function waitingThen(past: Replay, pods: Feed | undefined): Waiting[] {
  const { key, node } = past.run.pods;
  return past.first(ACTIVE, MOST).map((pod) => {
    const now = pods?.rows.get(key[pod])?.object;
    if (node[pod] >= 0) return { key: key[pod], why: `later on ${past.run.nodes.name[node[pod]]}` };
    return { key: key[pod], why: now && !now.spec?.nodeName ? `still waits: ${reasonOf(now)}` : "is gone since" };
  });
}

function MapOfCluster({ cluster }: { cluster: MapState }) {
  const { colour, group = "", node } = useAddress();
  const resource = useResource("", "nodes");
  const by = colour ?? cluster.run.resources[0] ?? "count";
  const groups = useMemo(() => groupingLabels(cluster.run), [cluster]);
  const values = colouring(cluster, by, undefined);
  return (
    <>
      <div className="tools">
        <Choice label="Colour by" value={by} options={colours(cluster.run, [])} onChange={(value) => go({ colour: value })} />
        <Choice label="Group by" value={group} options={[["", "nothing"], ...groups.map((key): [string, string] => [key, key])]} onChange={(value) => go({ group: value })} />
        {node && resource && <button type="button" onClick={() => openObject(resource, "", node)}>Open <Name text={node} /></button>}
      </div>
      <NodeMap
        replay={cluster}
        colour={values}
        resource={Math.max(0, cluster.run.resources.indexOf(by.replace("free:", "")))}
        group={group}
        selected={node}
        onSelect={(name) => go({ node: name === node ? "" : name })}
        label={`Map of ${counted(cluster.run.nodes.name.length, "node")}`}
      />
    </>
  );
}

/** What a pod says about itself while it has no node. */
export function reasonOf({ spec, status }: KubeObject): string {
  const gates = (spec?.schedulingGates ?? []) as { name: string }[];
  if (gates.length) return `gated by ${gates.map((gate) => gate.name).join(", ")}`;
  const condition = ((status?.conditions ?? []) as { type: string; status: string; message?: string; reason?: string }[]).find((each) => each.type === "PodScheduled");
  if (condition?.status === "False") return condition.message || condition.reason || "was not placed";
  return "not tried yet";
}

function WaitingPods({ pods, count, isPast }: { pods: Waiting[]; count: number; isPast: boolean }) {
  const resource = useResource("", "pods");
  if (!pods.length) return <p className="hint">{isPast ? "Every pod had a node." : "Pods that the scheduler cannot place appear here, with the reason."}</p>;
  return (
    <>
      <ul className="waiting">
        {pods.slice(0, MOST).map(({ key, why }) => (
          <li key={key}>
            <button type="button" onClick={() => resource && openObject(resource, key.slice(0, key.indexOf("/")), key.slice(key.indexOf("/") + 1))}><Name text={key} /></button>
            <span className="hint">{why}</span>
          </li>
        ))}
      </ul>
      {count > MOST && <p className="hint">{counted(count - MOST, "more pod")}{isPast ? "." : ": the table of pods has them all."}</p>}
    </>
  );
}
