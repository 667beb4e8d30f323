/** All objects of a kind, with the columns that the server prints them by. */
import { useEffect, useMemo, useState } from "react";
import { go, useAddress } from "../address";
import { whole } from "../derive";
import { type Column, Table, widthOf } from "../tables";
import { pathOf, type Resource } from "./api";
import { age, spelling, useMay } from "./context";
import { type Feed, type Row, useFeed } from "./feed";

/** Nodes and pods are fed whole: the map shows them, too. */
export function feedParameters(resource: Resource): Record<string, string> {
  return !resource.group && ["nodes", "pods"].includes(resource.plural) ? { includeObject: "Object" } : {};
}

/** The time, moving on once in ten seconds: what an age is told by. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

export function Liveness({ feed }: { feed: Feed | undefined }) {
  const texts = { loading: "reading…", live: "live", waiting: "the server does not answer; trying again", refused: "" };
  return <span className={`pill ${feed?.state ?? "loading"}`} role="status">{texts[feed?.state ?? "loading"]}</span>;
}

export function KindView({ resource }: { resource: Resource }) {
  const { scope = "", search = "" } = useAddress();
  const feed = useFeed(pathOf(resource, scope), feedParameters(resource));
  const now = useNow();
  const mayCreate = useMay("create", resource, resource.isNamespaced ? scope || "default" : "");
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const version = feed?.version;
  const all = useMemo(() => [...(feed?.rows.values() ?? [])], [feed, version]);
  const rows = useMemo(() => (words.length ? all.filter((row) => words.every((word) => `${row.key} ${row.cells.join(" ")}`.toLowerCase().includes(word))) : all), [all, search]);
  const columns = useMemo(() => columnsOf(resource, feed, scope, now), [resource, feed?.columns, scope, now]);
  return (
    <section aria-labelledby="kind-title">
      <div className="tools">
        <h2 id="kind-title">{resource.kind}</h2>
        <span className="hint">{resource.group || "core"}/{resource.version}</span>
        <Liveness feed={feed} />
        <label className="search">Search <input type="search" value={search} onChange={(event) => go({ search: event.target.value })} placeholder="any part of a row" /></label>
        <span className="hint">{whole(rows.length)} of {whole(all.length)}</span>
        {mayCreate && <button type="button" onClick={() => go({ view: "create", of: spelling(resource) }, { push: true })}>Create {resource.kind}</button>}
      </div>
      {feed?.state === "refused" ? <p role="alert">{feed.error}</p> : feed && feed.state !== "loading" && (
        <Table
          label={resource.kind}
          rows={rows}
          columns={columns}
          onSelect={(row) => openObject(resource, row.object.metadata.namespace, row.object.metadata.name)}
          empty={all.length ? "No row has these words." : `There is no ${resource.kind}${scope && resource.isNamespaced ? ` in the namespace ${scope}` : ""} yet.${mayCreate ? " Create one with the button above." : ""}`}
        />
      )}
    </section>
  );
}

export function openObject(resource: Resource, namespace: string | undefined, name: string): void {
  go({ view: "", kind: spelling(resource), namespace: namespace ?? "", name, search: "", tab: "" }, { push: true });
}

function columnsOf(resource: Resource, feed: Feed | undefined, scope: string, now: number): Column<Row>[] {
  const printed = (feed?.columns ?? []).map((definition, place) => ({ definition, place })).filter(({ definition }) => !definition.priority || (resource.kind === "Pod" && definition.name === "Node"));
  const columns = printed.map(({ definition, place }): Column<Row> => {
    const isNumber = definition.type === "integer" || definition.type === "number";
    if (definition.name === "Age") {
      const born = (row: Row) => row.object.metadata.creationTimestamp;
      return { title: "Age", value: (row) => -Date.parse(born(row) ?? ""), text: (row) => age(born(row), now), width: [64, 0.6] };
    }
    const text = (row: Row) => String(row.cells[place] ?? "");
    const width: [number, number] | undefined = place === 0 ? [176, 3] : isNumber ? [widthOf(definition.name), 0.6] : [Math.max(108, widthOf(definition.name)), 1.4];
    return { title: definition.name, value: (row) => (isNumber ? Number(row.cells[place]) : text(row)), text, width, isHost: !resource.group && (resource.kind === "Node" ? place === 0 : resource.kind === "Pod" && definition.name === "Node") };
  });
  if (resource.isNamespaced && !scope) columns.splice(1, 0, { title: "Namespace", value: (row) => row.object.metadata.namespace ?? "", width: [108, 1], isName: true });
  return columns;
}
