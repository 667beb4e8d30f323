/** Volcano's queues: what each has, deserves, is sure of and may have at most; its gangs, and why they wait. */
import { useMemo } from "react";
import { amount, counted } from "../derive";
import { Name } from "../names";
import { type KubeObject, pathOf, type Resource } from "./api";
import { type Feed, useFeed } from "./feed";
import { Liveness, openObject } from "./kindview";
import { parseQuantity } from "./quantity";

type Amounts = Record<string, string>;

const SHARES: [string, (queue: KubeObject) => Amounts | undefined][] = [
  ["allocated", ({ status }) => status?.allocated],
  ["deserved", ({ spec }) => spec?.deserved],
  ["guarantee", ({ spec }) => spec?.guarantee?.resource],
  ["capability", ({ spec }) => spec?.capability],
];

/** Why a gang waits: its newest condition that says so, or the newest event while it is not let into the cluster. */
function whyOf({ status }: KubeObject, event: KubeObject | undefined): string {
  const conditions = (status?.conditions ?? []) as { type: string; status: string; reason?: string; message?: string }[];
  const found = conditions.findLast((each) => each.status === "True" && each.type !== "Scheduled");
  if (found) return found.message || found.reason || found.type;
  return (status?.phase ?? "Pending") === "Pending" && event ? `not let in: ${event.message}` : "";
}

const NOTHING_TRIED = "0/0 tasks in gang";

/** The newest event about each gang that says why it waits, by uid. */
function reasons(events: Feed | undefined): Map<string, KubeObject> {
  const found = new Map<string, KubeObject>();
  for (const { object } of events?.rows.values() ?? []) {
    if (object.reason !== "Unschedulable" || String(object.message).startsWith(NOTHING_TRIED)) continue;
    const { uid } = object.involvedObject as { uid: string };
    const known = found.get(uid);
    if (!known || Number(known.metadata.resourceVersion) < Number(object.metadata.resourceVersion)) found.set(uid, object);
  }
  return found;
}

export function QueuesView({ queues, groups }: { queues: Resource; groups: Resource }) {
  const feed = useFeed(pathOf(queues), { includeObject: "Object" });
  const gangs = useFeed(pathOf(groups), { includeObject: "Object" });
  const events = useFeed("/api/v1/events", { fieldSelector: "involvedObject.kind=PodGroup", includeObject: "Object" });
  const versions = [feed?.version, gangs?.version, events?.version];
  const why = useMemo(() => reasons(events), [events, ...versions]);
  const shown = useMemo(() => [...(feed?.rows.values() ?? [])].map((row) => row.object).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)), [feed, ...versions]);
  const byQueue = useMemo(() => {
    const found = new Map<string, KubeObject[]>();
    for (const { object } of gangs?.rows.values() ?? []) {
      const name = (object.spec?.queue as string) || "default";
      found.set(name, [...(found.get(name) ?? []), object]);
    }
    return found;
  }, [gangs, ...versions]);
  return (
    <section aria-labelledby="queues-title">
      <div className="tools"><h2 id="queues-title">Queues</h2><Liveness feed={feed} /></div>
      {shown.length > 0 && <p className="legend shares"><span><i className="placed" />allocated</span><span><i className="deserved" />deserved</span><span><i className="guarantee" />guarantee</span><span><i className="capability" />capability</span></p>}
      {feed?.state === "refused" && <p role="alert">{feed.error}</p>}
      {shown.map((queue) => <QueueOf key={queue.metadata.name} queue={queue} resource={queues} groups={groups} why={why} gangs={byQueue.get(queue.metadata.name) ?? []} />)}
      {feed?.state === "live" && !shown.length && <p className="hint empty">There is no queue. Volcano makes the queue default when it starts.</p>}
    </section>
  );
}

function QueueOf({ queue, resource, groups, gangs, why }: { queue: KubeObject; resource: Resource; groups: Resource; gangs: KubeObject[]; why: Map<string, KubeObject> }) {
  const names = [...new Set(SHARES.flatMap(([, of]) => Object.keys(of(queue) ?? {})))].filter((name) => name !== "pods").sort();
  return (
    <article className="queue-of" aria-label={`Queue ${queue.metadata.name}`}>
      <h3>
        <button type="button" className="link" onClick={() => openObject(resource, "", queue.metadata.name)}><Name text={queue.metadata.name} /></button>{" "}
        <span className="hint">{queue.status?.state ?? ""} · weight {queue.spec?.weight ?? 1}{queue.spec?.reclaimable === false ? " · not reclaimable" : ""}</span>
      </h3>
      {names.map((name) => {
        const values = SHARES.map(([word, of]) => [word, parseQuantity(name, of(queue)?.[name]), of(queue)?.[name] !== undefined] as const);
        const most = Math.max(1e-9, ...values.map(([, value]) => value));
        return (
          <div className="share-of" key={name}>
            <span>{name}</span>
            {/* Without another amount there is nothing to be a share of. */}
            {values.slice(1).every(([, , isKnown]) => !isKnown) ? <span className="hint">no share set</span> : <svg role="img" aria-label={`${name}: ${values.filter(([, , isKnown]) => isKnown).map(([word, value]) => `${word} ${amount(name, value)}`).join(", ")}`} viewBox="0 0 100 10" preserveAspectRatio="none">
              <rect className="placed" width={(100 * values[0][1]) / most} height="10" />
              {values.slice(1).filter(([, , isKnown]) => isKnown).map(([word, value]) => <line key={word} className={word} x1={(100 * value) / most} x2={(100 * value) / most} y1="0" y2="10" />)}
            </svg>}
            <span className="hint">{values.filter(([, , isKnown]) => isKnown).map(([word, value]) => `${word} ${amount(name, value)}`).join(" · ")}</span>
          </div>
        );
      })}
      {gangs.length > 0 ? (
        <div className="cards">
          <table>
            <thead><tr><th scope="col">Gang</th><th scope="col">Phase</th><th scope="col">Needs</th><th scope="col">Running</th><th scope="col">Why it waits</th></tr></thead>
            <tbody>
              {gangs.slice(0, 100).map((gang) => (
                <tr key={gang.metadata.uid}>
                  <th scope="row"><button type="button" onClick={() => openObject(groups, gang.metadata.namespace, gang.metadata.name)}><Name text={`${gang.metadata.namespace}/${gang.metadata.name}`} /></button></th>
                  <td data-run="phase">{gang.status?.phase ?? "Pending"}</td>
                  <td data-run="needs">{counted(gang.spec?.minMember ?? 1, "pod")}</td>
                  <td data-run="running">{gang.status?.running ?? 0}</td>
                  <td data-run="why" className="why"><bdi>{whyOf(gang, why.get(gang.metadata.uid ?? ""))}</bdi></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : <p className="hint">No gang is in this queue.</p>}
    </article>
  );
}
