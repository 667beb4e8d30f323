/** The frame of every page: title, views, search, help, keys, and the player below. */
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { go, useAddress, visit } from "./address";
import { addressOf, counted } from "./derive";
import { isFree, isPressable } from "./keys";
import { Name } from "./names";
import type { Player } from "./player";
import { PlayerBar } from "./playerbar";
import type { Run } from "./run";

export interface View {
  key: string;
  title: string;
  content: () => ReactNode;
}

interface Props {
  title: ReactNode;
  summary: ReactNode;
  views: View[];
  player: Player;
  home?: ReactNode;
  footer: string;
}

export function Frame({ title, summary, views, player, home, footer }: Props) {
  const address = useAddress();
  const search = useRef<HTMLDialogElement>(null);
  const help = useRef<HTMLDialogElement>(null);
  useKeys(player, () => search.current?.showModal(), () => help.current?.showModal());
  const view = views.find((each) => each.key === address.view) ?? views[0];
  return (
    <div className="app">
      <header className="top">
        {home}
        <h1>{title}</h1>
        <button type="button" className="find" onClick={() => search.current?.showModal()} aria-keyshortcuts="/">
          Search<span> pod, node, workload <kbd>/</kbd></span>
        </button>
        <button type="button" onClick={() => help.current?.showModal()} aria-label="Help" aria-keyshortcuts="?">?</button>
      </header>
      <div className="summary">{summary}</div>
      <nav className="views" aria-label="Views">
        {views.map((each) => (
          <a key={each.key} href={`#view=${each.key}`} aria-current={each === view ? "page" : undefined} onClick={(event) => {
            event.preventDefault();
            go({ view: each === views[0] ? "" : each.key }, { push: true });
          }}>{each.title}</a>
        ))}
      </nav>
      <main className={`view view-${view.key}`} tabIndex={0}>
        {view.content()}
        {view !== views[0] && <footer>{footer}</footer>}
      </main>
      <PlayerBar player={player} />
      <Search dialog={search} runs={player.runs} />
      <HelpOfRun dialog={help} />
    </div>
  );
}

function useKeys(player: Player, onSearch: () => void, onHelp: () => void) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!isFree(event)) return;
      const target = event.target as HTMLElement;
      if (event.key === " " && !isPressable(event)) player.isPlaying ? player.pause() : player.play();
      else if (event.key === "ArrowRight" && event.shiftKey) player.nextStep(1);
      else if (event.key === "ArrowLeft" && event.shiftKey) player.nextStep(-1);
      else if (event.key === "ArrowRight") player.nextDecision(1);
      else if (event.key === "ArrowLeft") player.nextDecision(-1);
      else if (event.key === "Home" && !target.matches("[role=table], .body")) player.seek(player.start);
      else if (event.key === "End" && !target.matches("[role=table], .body")) player.seek(player.end);
      else if (event.key === "/") onSearch();
      else if (event.key === "?") onHelp();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}

interface Hit {
  kind: string;
  text: string;
  open: () => void;
}

function Search({ dialog, runs }: { dialog: React.RefObject<HTMLDialogElement | null>; runs: Run[] }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const run = runs[0];
  const hits = useMemo(() => (text.trim() ? find(run, text) : []), [run, text]);
  const open = (hit: Hit | undefined) => {
    if (!hit) return;
    dialog.current?.close();
    hit.open();
  };
  return (
    <dialog ref={dialog} className="search-dialog" aria-label="Search" onClose={() => setText("")}>
      <form method="dialog" onSubmit={(event) => {
        event.preventDefault();
        open(hits[chosen]);
      }}>
        <input
          type="search"
          aria-label="Search pods, nodes and workloads"
          placeholder="pod, node or workload"
          autoFocus
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setChosen(0);
          }}
          onKeyDown={(event) => {
            if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
            event.preventDefault();
            setChosen((now) => Math.min(Math.max(0, now + (event.key === "ArrowDown" ? 1 : -1)), hits.length - 1));
          }}
        />
      </form>
      {text.trim() && !hits.length && <p className="hint">Nothing of this name is in the run. Names are found by any part of them.</p>}
      <ul>
        {hits.map((hit, i) => (
          <li key={`${hit.kind} ${hit.text} ${i}`}>
            <button type="button" aria-current={i === chosen || undefined} onClick={() => open(hit)}><span className="hint">{hit.kind}</span> <Name text={hit.text} /></button>
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => dialog.current?.close()}>Close</button>
    </dialog>
  );
}

const MOST_HITS = 8;

function find(run: Run, text: string): Hit[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const isLike = (name: string) => words.every((word) => name.toLowerCase().includes(word));
  const pods: Hit[] = [];
  for (let i = 0; i < run.pods.key.length && pods.length < MOST_HITS; i++) {
    if (isLike(run.pods.key[i])) pods.push({ kind: "pod", text: run.pods.key[i], open: () => visit({ ...addressOf(run, i), view: "", step: "", decision: "", attempt: "" }) });
  }
  const nodes = run.nodes.name.filter(isLike).slice(0, MOST_HITS).map((name): Hit => ({ kind: "node", text: name, open: () => go({ node: name, view: "" }, { push: true }) }));
  const owners = [...new Set(run.pods.owner)].filter((name) => name && isLike(name)).slice(0, MOST_HITS);
  const workloads = owners.map((name): Hit => ({ kind: "workload", text: name, open: () => go({ view: "pods", search: name, show: "", node: "" }, { push: true }) }));
  return [...pods, ...nodes, ...workloads];
}

const KEYS: [string, string][] = [
  ["Space", "play and pause"],
  ["→ ←", "next and previous decision"],
  ["Shift + → ←", "next and previous step"],
  ["Home End", "the start and the end of the run"],
  ["/", "search"],
  ["?", "this help"],
];

export function Help({ dialog, keys, children }: { dialog: React.RefObject<HTMLDialogElement | null>; keys: [string, string][]; children: ReactNode }) {
  return (
    <dialog ref={dialog} className="help" aria-label="Help">
      <h2>Keys</h2>
      <dl>{keys.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <h2>How to read it</h2>
      {children}
      <p>The address of the page reopens what you see.</p>
      <button type="button" autoFocus onClick={() => dialog.current?.close()}>Close</button>
    </dialog>
  );
}

function HelpOfRun({ dialog }: { dialog: React.RefObject<HTMLDialogElement | null> }) {
  return (
    <Help dialog={dialog} keys={KEYS}>
      <p>
        Everything follows one cursor: the bar below. A tile is a node; the ring marks the node of the decision at the
        cursor, a dashed ring the node of its victims. Blue is placed, amber waits, red was displaced.
      </p>
      <p>The record has the scheduler's attempts, not the moves between its queues: a pod is active until its first attempt, and where its last attempt left it until the next one.</p>
    </Help>
  );
}

export function Omitted({ texts }: { texts: string[] }) {
  if (!texts.length) return null;
  return (
    <details className="omitted">
      <summary>{counted(texts.length, "note")}</summary>
      {texts.map((text) => <p key={text}>{text}</p>)}
    </details>
  );
}
