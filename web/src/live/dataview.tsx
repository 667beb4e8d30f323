/** The whole cluster at once: taken to a file, brought from one, or begun again. */
import { useRef, useState } from "react";
import { parse as parseYaml } from "yaml";
import { ask } from "./api";
import { useLive, useMay } from "./context";
import { Confirm } from "./dialogs";

export function DataView() {
  const { say, renew } = useLive();
  const mayImport = useMay("create", { group: "", plural: "import" });
  const mayReset = useMay("update", { group: "", plural: "reset" });
  const [isBusy, setBusy] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const file = useRef<HTMLInputElement>(null);
  const load = async (chosen: File) => {
    setBusy(true);
    try {
      const text = await chosen.text();
      const answer = await ask("POST", "/api/v1/import", text.trimStart().startsWith("{") ? JSON.parse(text) : parseYaml(text));
      const warning = answer.headers.get("warning")?.replace(/^299 - /, "");
      say(`Imported ${chosen.name}.${warning ? ` ${warning}` : ""}`);
      renew();
    } catch (error) {
      say(`${chosen.name} was not imported: ${(error as Error).message}`, true);
    }
    setBusy(false);
  };
  const reset = () => ask("PUT", "/api/v1/reset").then(
    () => { say("The server is as it was when it started."); renew(); },
    (error: Error) => say(`Nothing was reset: ${error.message}`, true),
  );
  return (
    <section aria-labelledby="data-title" className="data">
      <h2 id="data-title">Import, export, reset</h2>
      <h3>Export</h3>
      <p>All objects and the scheduler's configuration in one file; <code>seatrial run --snapshot</code> and kube-scheduler-simulator read it.</p>
      <p><a className="button" href="/api/v1/export" download="cluster.json">Export the cluster</a></p>
      {mayImport && (
        <>
          <h3>Import</h3>
          <p>A file of an export, of <code>seatrial snapshot</code>, or of <code>kubectl get … -o json</code>. Objects of the same names are replaced, others stay.</p>
          <p><label className="file">File to import <input ref={file} type="file" accept=".json,.yaml,.yml" disabled={isBusy} onChange={(event) => {
            const chosen = event.target.files?.[0];
            event.target.value = "";
            if (chosen) void load(chosen);
          }} /></label></p>
        </>
      )}
      {mayReset && (
        <>
          <h3>Reset</h3>
          <p>Removes every object that was created, and goes back to the configuration that the server started with.</p>
          <p><button type="button" className="harm" onClick={() => setAsking(true)}>Reset the server…</button></p>
          <Confirm isOpen={isAsking} title="Reset the server?" verb="Reset" onClose={() => setAsking(false)} onConfirm={() => void reset()}>
            <p>Nodes, pods and everything else are removed. An export made before can bring them back.</p>
          </Confirm>
        </>
      )}
    </section>
  );
}
