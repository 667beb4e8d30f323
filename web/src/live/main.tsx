/** The application that `seatrial serve` has at `/`: the cluster that is running now. */
import { createRoot } from "react-dom/client";
import "../theme.css";
import "./live.css";
import { App } from "./shell";

createRoot(document.getElementById("root")!).render(<App />);
