/** A page that has its data inside. */
import { createRoot } from "react-dom/client";
import { Compare } from "./compare";
import { Player } from "./player";
import { Report } from "./report";
import { openRun } from "./run";
import { EmbeddedSource, embeddedPage } from "./source";
import "./theme.css";

const root = createRoot(document.getElementById("root")!);

async function open() {
  const page = await embeddedPage();
  const runs = await Promise.all(page.runs.map((run) => openRun(new EmbeddedSource(run))));
  document.title = `${runs.map((run) => run.name).join(" / ")} – Seatrial`;
  const player = new Player(runs);
  root.render(page.kind === "compare" ? <Compare player={player} comparison={page} /> : <Report player={player} />);
}

open().catch((error: unknown) => root.render(<p role="alert">This page's data cannot be read: {String(error)}</p>));
