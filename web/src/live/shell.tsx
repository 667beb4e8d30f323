/** The frame of the live pages: who is signed in, the kinds on the left, the view, and what happened last. */
import { useCallback, useEffect, useMemo, useRef, useState, type FormEvent } from "react";
import { go, useAddress } from "../address";
import { Help } from "../frame";
import { isFree } from "../keys";
import { Name } from "../names";
import { ApiError, ask, discover, get, type Resource, whoAmI } from "./api";
import { ClusterView } from "./clusterview";
import { LiveContext, spelling, useLive, useMay } from "./context";
import { CreateView } from "./create";
import { DataView } from "./dataview";
import { DetailView } from "./detail";
import { useFeed } from "./feed";
import { KindView } from "./kindview";
import { QueuesView } from "./queuesview";
import { ScenarioView } from "./scenarioview";
import { SchedulerView } from "./schedulerview";

interface Start {
  user: string;
  version: string;
  resources: Resource[];
}

async function begin(): Promise<Start> {
  const user = await whoAmI();
  const [version, resources] = await Promise.all([get<{ gitVersion: string }>("/version").then((found) => found.gitVersion, () => ""), discover()]);
  return { user, version, resources };
}

export function App() {
  const [start, setStart] = useState<Start>();
  const [problem, setProblem] = useState<ApiError>();
  const open = useCallback(() => {
    setProblem(undefined);
    begin().then(setStart, (error: unknown) => setProblem(error instanceof ApiError ? error : new ApiError(0, String(error))));
  }, []);
  useEffect(open, [open]);
  if (problem?.code === 401) return <SignIn onDone={open} />;
  if (problem) return <main className="view"><h1>Seatrial</h1><p role="alert">The server does not answer: {problem.message}</p><button type="button" onClick={open}>Try again</button></main>;
  if (!start) return <main className="view"><h1>Seatrial</h1><p role="status" className="hint">Reading which kinds the server has…</p></main>;
  return <Shell {...start} onRenew={() => void discover().then((resources) => setStart({ ...start, resources }))} />;
}

function SignIn({ onDone }: { onDone: () => void }) {
  const [token, setToken] = useState("");
  const [error, setError] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    ask("POST", "/ui/session", { token }).then(onDone, (refused: Error) => setError(refused.message));
  };
  return (
    <main className="view sign-in">
      <h1>Seatrial</h1>
      <p>Open the address that <code>seatrial serve</code> has printed: it is good for one browser. Or sign in with a token that the server knows.</p>
      <form onSubmit={submit}>
        <label>Token <input type="password" autoComplete="off" value={token} onChange={(event) => setToken(event.target.value)} required /></label>
        <button type="submit">Sign in</button>
      </form>
      <p className="hint"><code>kubectl create token NAME</code> makes one for a service account; the kubeconfig has that of the administrator.</p>
      {error && <p role="alert">{error}</p>}
    </main>
  );
}

const VIEWS: [string, string][] = [["", "Cluster"], ["scheduler", "Scheduler"], ["scenarios", "Scenarios"], ["data", "Import, export, reset"]];
const SCENARIOS = "scenarios.simulation.kube-scheduler-simulator.x-k8s.io";

const USUAL: [string, string][] = [
  ["", "pods"], ["", "nodes"], ["apps", "deployments"], ["apps", "replicasets"], ["apps", "statefulsets"], ["apps", "daemonsets"],
  ["batch", "jobs"], ["batch", "cronjobs"], ["scheduling.volcano.sh", "queues"], ["scheduling.volcano.sh", "podgroups"], ["batch.volcano.sh", "jobs"],
  ["policy", "poddisruptionbudgets"], ["scheduling.k8s.io", "priorityclasses"], ["", "events"],
];

const KEYS: [string, string][] = [
  ["/", "find a kind"],
  ["Space", "play and pause what was seen of the cluster"],
  ["→ ←", "next and previous moment of the cluster"],
  ["Ctrl + Space", "complete in an editor; Esc, then Tab leaves it"],
  ["?", "this help"],
];

function Shell({ user, version, resources, onRenew }: Start & { onRenew: () => void }) {
  const address = useAddress();
  const [notice, setNotice] = useState<{ text: string; isError: boolean; count: number }>();
  const say = useCallback((text: string, isError = false) => setNotice((before) => ({ text, isError, count: (before?.count ?? 0) + 1 })), []);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const help = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== "?" || !isFree(event)) return;
      event.preventDefault();
      help.current?.showModal();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  useEffect(() => setMenuOpen(false), [address.view, address.kind, address.name]);
  const live = useMemo(() => ({ resources, renew: onRenew, user, version, say }), [resources, user, version, say]);
  const kind = resources.find((each) => spelling(each) === address.kind);
  const [queues, gangs] = ["queues", "podgroups"].map((plural) => resources.find((each) => spelling(each) === `${plural}.scheduling.volcano.sh`));
  const scenarios = resources.find((each) => spelling(each) === SCENARIOS);
  useEffect(() => {
    document.title = `${address.name ?? kind?.kind ?? "Cluster"} – Seatrial`;
  }, [address.name, kind]);
  useEffect(() => {
    if (!notice || notice.isError) return;
    const timer = setTimeout(() => setNotice(undefined), 6000);
    return () => clearTimeout(timer);
  }, [notice]);
  return (
    <LiveContext.Provider value={live}>
      <div className="app live">
        <header className="top">
          <h1>Seatrial <span className="hint">{location.host}</span></h1>
          <button type="button" className="menu" aria-expanded={isMenuOpen} onClick={() => setMenuOpen(!isMenuOpen)}>Menu</button>
          <Namespaces />
          <span className="hint who">{user} · {version.replace("+", " · ")}</span>
          <button type="button" onClick={() => help.current?.showModal()} aria-label="Help" aria-keyshortcuts="?">?</button>
          <button type="button" onClick={() => void ask("DELETE", "/ui/session").then(() => location.reload())}>Sign out</button>
        </header>
        <nav className={`kinds${isMenuOpen ? " open" : ""}`} aria-label="Kinds"><Kinds resources={resources} /></nav>
        <main className="view" tabIndex={-1}>
          {address.view === "create" ? <CreateView />
            : address.view === "data" ? <DataView />
            : address.view === "scheduler" ? <SchedulerView />
            : address.view === "queues" && queues && gangs ? <QueuesView queues={queues} groups={gangs} />
            : address.view === "scenarios" && scenarios ? <ScenarioView resource={scenarios} />
            : kind && address.name ? <DetailView key={`${address.kind} ${address.namespace} ${address.name}`} resource={kind} namespace={address.namespace ?? ""} name={address.name} />
            : kind ? <KindView key={address.kind} resource={kind} />
            : address.kind ? <p className="hint empty">The server has no kind {address.kind}. <button type="button" onClick={onRenew}>Look again</button></p>
            : <ClusterView />}
        </main>
        <Help dialog={help} keys={KEYS}>
          <p>The kinds on the left are those that the server has; tables and the map follow it by a watch. Buttons are there for what your roles allow.</p>
          <p>A tile of the map is a node, and blocks in it are its pods. Blue is placed, amber waits.</p>
        </Help>
        {notice && (
          <div className={`notice${notice.isError ? " error" : ""}`} role={notice.isError ? "alert" : "status"} key={notice.count}>
            <span>{notice.text}</span>
            <button type="button" aria-label="Close the message" onClick={() => setNotice(undefined)}>✕</button>
          </div>
        )}
      </div>
    </LiveContext.Provider>
  );
}

function Namespaces() {
  const { scope = "" } = useAddress();
  const { resources } = useLive();
  const isServed = resources.some((each) => each.plural === "namespaces" && !each.group);
  const feed = useFeed(isServed ? "/api/v1/namespaces" : undefined);
  const names = [...(feed?.rows.keys() ?? [])].sort();
  if (feed?.state === "refused") return <label>Namespace <input value={scope} onChange={(event) => go({ scope: event.target.value })} placeholder="all" /></label>;
  return (
    <label>
      Namespace{" "}
      <select value={scope} onChange={(event) => go({ scope: event.target.value })}>
        <option value="">all</option>
        {[...new Set([...names, ...(scope ? [scope] : [])])].map((name) => <option key={name}>{name}</option>)}
      </select>
    </label>
  );
}

function Kinds({ resources }: { resources: Resource[] }) {
  const address = useAddress();
  const [text, setText] = useState("");
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== "/" || !isFree(event)) return;
      event.preventDefault();
      search.current?.focus();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  const usual = USUAL.map(([group, plural]) => resources.find((each) => each.group === group && each.plural === plural)).filter((each) => each !== undefined);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const others = resources.filter((each) => !usual.includes(each) && words.every((word) => `${spelling(each)} ${each.kind}`.toLowerCase().includes(word)));
  const groups = new Map<string, Resource[]>();
  for (const each of others) groups.set(each.group, [...(groups.get(each.group) ?? []), each]);
  const canCreate = useMay("create", { group: "", plural: "pods" }, address.scope ?? "default");
  const link = (key: string, shown: string, changes: Record<string, string>, isCurrent: boolean) => (
    <li key={key}>
      <a href={`#${new URLSearchParams(changes)}`} aria-current={isCurrent ? "page" : undefined} onClick={(event) => {
        event.preventDefault();
        go({ view: "", kind: "", name: "", namespace: "", search: "", tab: "", node: "", show: "", ...changes }, { push: true });
      }}><Name text={shown} /></a>
    </li>
  );
  const kindLink = (each: Resource) => link(spelling(each), each.kind === "Job" && each.group === "batch.volcano.sh" ? "Job (Volcano)" : each.kind, { kind: spelling(each) }, address.kind === spelling(each));
  return (
    <>
      <ul>
        {VIEWS.map(([key, title]) => link(key, title, { view: key }, !address.kind && (address.view ?? "") === key))}
        {resources.some((each) => spelling(each) === "queues.scheduling.volcano.sh") && link("queues", "Queues and gangs", { view: "queues" }, address.view === "queues")}
        {canCreate && link("create", "Create…", { view: "create" }, address.view === "create")}
      </ul>
      <ul>{usual.map(kindLink)}</ul>
      <details open={words.length > 0 || (address.kind !== undefined && !usual.some((each) => spelling(each) === address.kind))}>
        <summary>All kinds</summary>
        {[...groups].map(([group, kinds]) => (
          <section key={group} aria-label={group || "core"}><h3><Name text={group || "core"} /></h3><ul>{kinds.map(kindLink)}</ul></section>
        ))}
      </details>
      <label className="find-kind">Find a kind <input ref={search} type="search" value={text} onChange={(event) => setText(event.target.value)} aria-keyshortcuts="/" /></label>
    </>
  );
}
