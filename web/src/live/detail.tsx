/** One object: what it says about itself, whom it belongs to, what happened, its YAML, and why a pod is where it is. */
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { go, useAddress } from "../address";
import { Name } from "../names";
import { Actions } from "./actions";
import { get, type KubeObject, pathOf, type Resource, resourceOf } from "./api";
import { age, useLive, useMay } from "./context";
import { toYaml, withResults } from "./document";
import { useFeed } from "./feed";
import { Liveness, openObject, useNow } from "./kindview";
import { Verdict } from "./verdict";
import { YamlPane } from "./yamlpane";

export function DetailView({ resource, namespace, name }: { resource: Resource; namespace: string; name: string }) {
  const { tab } = useAddress();
  const feed = useFeed(pathOf(resource, namespace), { fieldSelector: `metadata.name=${name}`, includeObject: "Object" }, true);
  const object = feed?.rows.values().next().value?.object;
  const isPod = resource.kind === "Pod" && !resource.group;
  const tabs: [string, string, ReactNode][] = object ? [
    ...(isPod ? [["", "Decision", <Verdict key="verdict" pod={object} />] as [string, string, ReactNode]] : []),
    [isPod ? "about" : "", "About", <About key="about" object={object} />],
    ["events", "Events", <Events key="events" object={object} />],
    ["yaml", "YAML", <ObjectYaml key="yaml" resource={resource} object={object} />],
  ] : [];
  const shown = tabs.find(([key]) => key === (tab ?? "")) ?? tabs[0];
  return (
    <section aria-labelledby="object-title" className="object">
      <div className="tools">
        <button type="button" onClick={() => go({ name: "", namespace: "", tab: "" }, { push: true })}>← {resource.kind}</button>
        <h2 id="object-title"><Name text={namespace ? `${namespace}/${name}` : name} /></h2>
        <Liveness feed={feed} />
        {object && <Actions resource={resource} object={object} />}
      </div>
      {feed?.state === "refused" && <p role="alert">{feed.error}</p>}
      {feed?.state === "live" && !object && <p className="hint empty">There is no {resource.kind} of this name: it was deleted, or has not been created yet. This page shows it as soon as it is there.</p>}
      {shown && (
        <>
          <nav className="views" aria-label="Parts of the object">
            {tabs.map(([key, title]) => (
              <a key={key} href={`#tab=${key}`} aria-current={key === shown[0] ? "page" : undefined} onClick={(event) => {
                event.preventDefault();
                go({ tab: key });
              }}>{title}</a>
            ))}
          </nav>
          {shown[2]}
        </>
      )}
    </section>
  );
}

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

function About({ object }: { object: KubeObject }) {
  const now = useNow();
  const conditions = (object.status?.conditions ?? []) as Condition[];
  const { labels = {}, creationTimestamp } = object.metadata;
  const facts: [string, string][] = [
    ["Created", `${creationTimestamp ?? ""} (${age(creationTimestamp, now)} ago)`],
    ...(object.spec?.nodeName ? [["Node", object.spec.nodeName] as [string, string]] : []),
    ...(object.status?.phase ? [["Phase", object.status.phase] as [string, string]] : []),
    ...(object.spec?.unschedulable ? [["Cordoned", "no new pod is placed here"] as [string, string]] : []),
    ...Object.entries((object.status?.allocatable ?? {}) as Record<string, string>).map(([key, value]): [string, string] => [`Allocatable ${key}`, value]),
  ];
  return (
    <>
      <dl className="facts">{facts.map(([key, value]) => <div key={key}><dt>{key}</dt><dd><bdi>{value}</bdi></dd></div>)}</dl>
      {Object.keys(labels).length > 0 && <><h3>Labels</h3><dl className="facts">{Object.entries(labels).map(([key, value]) => <div key={key}><dt><Name text={key} /></dt><dd><bdi>{value}</bdi></dd></div>)}</dl></>}
      <Owners object={object} />
      {conditions.length > 0 && (
        <div className="cards">
          <table>
            <caption>Conditions</caption>
            <thead><tr><th scope="col">Condition</th><th scope="col">Status</th><th scope="col">Reason</th><th scope="col">Message</th><th scope="col">Since</th></tr></thead>
            <tbody>
              {conditions.map((each) => (
                <tr key={each.type}><th scope="row">{each.type}</th><td data-run="status">{each.status}</td><td data-run="reason">{each.reason}</td><td data-run="message" className="why"><bdi>{each.message}</bdi></td><td data-run="since">{age(each.lastTransitionTime, now)}</td></tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

/** The owners above an object, each a link. */
function Owners({ object }: { object: KubeObject }) {
  const { resources } = useLive();
  const [chain, setChain] = useState<{ resource: Resource; object: KubeObject }[]>([]);
  const first = object.metadata.ownerReferences?.[0]?.uid;
  useEffect(() => {
    let isWanted = true;
    const climb = async () => {
      const found: { resource: Resource; object: KubeObject }[] = [];
      for (let at = object; found.length < 8; ) {
        const owner = at.metadata.ownerReferences?.find((each) => each.controller) ?? at.metadata.ownerReferences?.[0];
        const resource = owner && resourceOf(resources, owner);
        if (!owner || !resource) break;
        const next = await get<KubeObject>(pathOf(resource, resource.isNamespaced ? object.metadata.namespace : "", owner.name)).catch(() => undefined);
        if (!next) break;
        found.unshift({ resource, object: next });
        at = next;
      }
      if (isWanted) setChain(found);
    };
    void climb();
    return () => {
      isWanted = false;
    };
  }, [first]);
  if (!chain.length) return null;
  return (
    <>
      <h3>Belongs to</h3>
      <p className="chain">
        {chain.map(({ resource, object: owner }) => (
          <span key={owner.metadata.uid}><button type="button" className="link" onClick={() => openObject(resource, owner.metadata.namespace, owner.metadata.name)}>{resource.kind} <Name text={owner.metadata.name} /></button> → </span>
        ))}
        <b>{object.kind}</b>
      </p>
    </>
  );
}

function Events({ object }: { object: KubeObject }) {
  const now = useNow();
  const { namespace = "default", uid = "" } = object.metadata;
  const feed = useFeed(`/api/v1/namespaces/${encodeURIComponent(namespace)}/events`, { fieldSelector: `involvedObject.uid=${uid}`, includeObject: "Object" });
  const version = feed?.version;
  const events = useMemo(() => {
    const when = (event: KubeObject) => (event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? "") as string;
    return [...(feed?.rows.values() ?? [])].map((row) => row.object).map((event) => ({ event, at: when(event) })).sort((a, b) => (a.at < b.at ? 1 : -1));
  }, [feed, version]);
  if (feed?.state === "refused") return <p role="alert">{feed.error}</p>;
  if (!events.length) return <p className="hint empty">{feed?.state === "live" ? "No event is about this object. The server keeps events for an hour." : "Reading events…"}</p>;
  return (
    <div className="cards">
      <table>
        <thead><tr><th scope="col">When</th><th scope="col">Type</th><th scope="col">Reason</th><th scope="col">Message</th><th scope="col">Count</th></tr></thead>
        <tbody>
          {events.map(({ event, at }) => (
            <tr key={event.metadata.uid}><td data-run="when">{age(at, now)} ago</td><td data-run="type">{event.type}</td><th scope="row">{event.reason}</th><td data-run="message" className="why"><bdi>{event.message}</bdi></td><td data-run="count">{event.count ?? 1}</td></tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ObjectYaml({ resource, object }: { resource: Resource; object: KubeObject }) {
  const { say } = useLive();
  const mayEdit = useMay("update", resource, object.metadata.namespace ?? "");
  // What the server has answered to Save stands for the object until the watch has brought it.
  const [saved, setSaved] = useState<{ over?: string; object: KubeObject }>();
  const current = saved && saved.over === object.metadata.resourceVersion ? saved.object : object;
  const whole = useMemo(() => toYaml({ apiVersion: current.apiVersion, kind: current.kind, ...current }), [current]);
  const [draft, setDraft] = useState<{ text: string; base: string }>();
  if (!mayEdit) return <pre className="yaml" tabIndex={0} aria-label="YAML of the object">{whole}</pre>;
  const isStale = draft !== undefined && draft.base !== current.metadata.resourceVersion;
  return (
    <>
      {isStale && <p className="hint" role="status">The object has changed since you began to edit. <button type="button" onClick={() => setDraft(undefined)}>Take the new one</button></p>}
      <YamlPane
        label="YAML of the object"
        text={draft?.text ?? whole}
        onText={(text) => setDraft((before) => (before === undefined && text === whole ? before : { text, base: before?.base ?? current.metadata.resourceVersion ?? "" }))}
        verb="Save"
        method="PUT"
        completed={(edited) => withResults(edited, current)}
        onDone={([answer]) => {
          say(`Saved ${resource.kind} ${object.metadata.name}.`);
          setSaved({ over: object.metadata.resourceVersion, object: answer });
          setDraft(undefined);
        }}
      >
        {draft && <button type="button" onClick={() => setDraft(undefined)}>Undo all changes</button>}
      </YamlPane>
    </>
  );
}
