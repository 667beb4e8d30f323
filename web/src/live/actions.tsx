/** What can be done with an object, as far as the user may: scale, cordon, drain, delete. */
import { useState } from "react";
import { go } from "../address";
import { counted } from "../derive";
import { ApiError, ask, get, type KubeObject, patch, pathOf, type Resource, write } from "./api";
import { useLive, useMay } from "./context";
import { Confirm } from "./dialogs";

export function Actions({ resource, object }: { resource: Resource; object: KubeObject }) {
  const { say } = useLive();
  const { name, namespace = "" } = object.metadata;
  const [asked, setAsked] = useState<"delete" | "scale" | "drain">();
  const [replicas, setReplicas] = useState("");
  const [progress, setProgress] = useState("");
  const mayDelete = useMay("delete", resource, namespace);
  const mayPatch = useMay("patch", resource, namespace);
  const mayScale = useMay("patch", resource, namespace, "scale") && resource.subresources.includes("scale");
  const mayEvict = useMay("create", { group: "", plural: "pods" }, "", "eviction");
  const isNode = resource.kind === "Node" && !resource.group;
  const path = pathOf(resource, namespace, name);
  const attempt = (done: string, work: Promise<unknown>) => work.then(() => say(done), (error: Error) => say(error.message, true));
  const cordon = (unschedulable: boolean) => patch(path, { spec: { unschedulable } });
  const drain = async () => {
    try {
      await cordon(true);
      const { evicted, left } = await evictAll(name, setProgress);
      say(`Drained ${name}: ${counted(evicted, "pod")} evicted${left.length ? `; ${counted(left.length, "pod")} stayed: ${left[0]}` : ""}.`, left.length > 0);
    } catch (error) {
      say((error as Error).message, true);
    }
    setProgress("");
  };
  return (
    <div className="actions">
      {mayScale && <button type="button" onClick={() => { setReplicas(String(object.spec?.replicas ?? 1)); setAsked("scale"); }}>Scale…</button>}
      {isNode && mayPatch && <button type="button" onClick={() => void attempt(`${object.spec?.unschedulable ? "Uncordoned" : "Cordoned"} ${name}.`, cordon(!object.spec?.unschedulable))}>{object.spec?.unschedulable ? "Uncordon" : "Cordon"}</button>}
      {isNode && mayPatch && mayEvict && <button type="button" disabled={Boolean(progress)} onClick={() => setAsked("drain")}>{progress || "Drain…"}</button>}
      {mayDelete && <button type="button" className="harm" onClick={() => setAsked("delete")}>Delete…</button>}
      <Confirm isOpen={asked === "delete"} title={`Delete ${resource.kind} ${name}?`} verb="Delete" onClose={() => setAsked(undefined)} onConfirm={() => void attempt(`Deleted ${resource.kind} ${name}.`, ask("DELETE", path).then(() => go({ name: "", namespace: "", tab: "" }, { push: true })))} />
      <Confirm isOpen={asked === "drain"} title={`Drain ${name}?`} verb="Drain" onClose={() => setAsked(undefined)} onConfirm={() => void drain()}>
        <p>The node takes no new pods, and its pods are evicted as far as their PodDisruptionBudgets allow. Pods of DaemonSets stay.</p>
      </Confirm>
      <Confirm isOpen={asked === "scale"} title={`Scale ${name}`} verb="Scale" isHarmless onClose={() => setAsked(undefined)} onConfirm={() => void attempt(`Scaled ${name} to ${replicas}.`, patch(pathOf(resource, namespace, name, "scale"), { spec: { replicas: Number(replicas) } }))}>
        <p><label>Replicas <input type="number" min={0} required value={replicas} onChange={(event) => setReplicas(event.target.value)} /></label></p>
      </Confirm>
    </div>
  );
}

/** Evict the pods of a node as `kubectl drain` does: those of DaemonSets and of the node itself stay. */
async function evictAll(node: string, say: (text: string) => void): Promise<{ evicted: number; left: string[] }> {
  const { items } = await get<{ items: KubeObject[] }>(`/api/v1/pods?fieldSelector=${encodeURIComponent(`spec.nodeName=${node}`)}`);
  const movable = items.filter((pod) => !pod.metadata.annotations?.["kubernetes.io/config.mirror"] && !pod.metadata.ownerReferences?.some((owner) => owner.controller && owner.kind === "DaemonSet"));
  const left: string[] = [];
  let evicted = 0;
  for (const { metadata } of movable) {
    say(`Evicting ${evicted + left.length + 1} of ${movable.length}`);
    const path = `/api/v1/namespaces/${encodeURIComponent(metadata.namespace!)}/pods/${encodeURIComponent(metadata.name)}/eviction`;
    try {
      await write("POST", path, { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: metadata.name, namespace: metadata.namespace } });
      evicted += 1;
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) continue;
      left.push(`${metadata.namespace}/${metadata.name}: ${(error as Error).message}`);
    }
  }
  return { evicted, left };
}
