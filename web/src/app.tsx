/** The application that `seatrial ui` serves: runs, one run, a comparison, a sweep; the address says which. */
import { useEffect, useState, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { useAddress } from "./address";
import { Compare } from "./compare";
import type { Comparison } from "./data";
import { Player } from "./player";
import { Report } from "./report";
import { openRun } from "./run";
import { Runs, SweepPage } from "./runs";
import { getJson, HttpSource } from "./source";
import "./theme.css";

const HOME = <a className="home" href="#">Runs</a>;

async function open(run: string | undefined, compared: string | undefined): Promise<ReactNode> {
  const names = compared ? compared.split(",").map(decodeURIComponent) : run !== undefined ? [run] : [];
  const runs = await Promise.all(names.map((name) => openRun(new HttpSource(`/ui/api/runs/${encodeURIComponent(name)}`))));
  document.title = `${runs.map((each) => each.name).join(" / ")} – Seatrial`;
  const player = new Player(runs);
  if (runs.length === 1) return <Report player={player} home={HOME} />;
  const query = names.map((name) => `run=${encodeURIComponent(name)}`).join("&");
  return <Compare player={player} comparison={await getJson<Comparison>(`/ui/api/compare?${query}`)} home={HOME} />;
}

function App() {
  const { run, compare, sweep } = useAddress();
  const [page, setPage] = useState<ReactNode>();
  useEffect(() => {
    setPage(undefined);
    if (run === undefined && compare === undefined) {
      document.title = "Seatrial";
      return;
    }
    let isWanted = true;
    open(run, compare).then(
      (found) => isWanted && setPage(found),
      (error: unknown) => isWanted && setPage(<main className="view runs"><p>{HOME}</p><h1>This cannot be shown</h1><p role="alert">{error instanceof Error ? error.message : String(error)}</p></main>),
    );
    return () => {
      isWanted = false;
    };
  }, [run, compare]);
  if (sweep !== undefined) return <SweepPage name={sweep} home={HOME} />;
  if (run === undefined && compare === undefined) return <Runs />;
  return page ?? <main className="view"><p role="status" className="hint">Opening…</p></main>;
}

createRoot(document.getElementById("root")!).render(<App />);
