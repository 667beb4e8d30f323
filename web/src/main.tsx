import { createRoot } from "react-dom/client";
import { Compare } from "./compare";
import { loadPage } from "./data";
import { Report } from "./report";
import "./theme.css";

const root = createRoot(document.getElementById("root")!);

loadPage().then(
  (page) => {
    document.title = `${page.runs.map((run) => run.name).join(" / ")} – Seatrial`;
    root.render(page.kind === "compare" ? <Compare page={page} /> : <Report run={page.runs[0]} />);
  },
  (error: unknown) => root.render(<p role="alert">This page's data cannot be read: {String(error)}</p>),
);
