/** YAML with the server's own errors: it is tried as a dry run a moment after each change, and sent with a button. */
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { ApiError, type KubeObject, pathOf, resourceOf, write } from "./api";
import { useLive } from "./context";
import { parse, problemsOf } from "./document";
import { Editor, type Problem } from "./editor";

interface Props {
  label: string;
  text: string;
  onText: (text: string) => void;
  /** The verb on the button. */
  verb: string;
  method: "POST" | "PUT";
  onDone: (objects: KubeObject[]) => void;
  /** What is sent in place of what was written. */
  completed?: (object: KubeObject) => KubeObject;
  children?: ReactNode;
}

const REST = 700;
const STRICT = "fieldValidation=Strict";

export function YamlPane({ label, text, onText, verb, method, onDone, completed = (object) => object, children }: Props) {
  const { resources, say, renew } = useLive();
  const parsed = useMemo(() => parse(text), [text]);
  const [refused, setRefused] = useState<{ text: string; problems: Problem[] }>();
  const [isBusy, setBusy] = useState(false);

  const pathOfObject = (object: KubeObject): string => {
    const resource = resourceOf(resources, object);
    if (!resource) throw new ApiError(404, `the server has no kind ${object.kind} in ${object.apiVersion}`);
    const namespace = resource.isNamespaced ? object.metadata?.namespace || "default" : "";
    return pathOf(resource, namespace, method === "PUT" ? object.metadata?.name : "");
  };
  /** Send every document; the problems of those that were refused. */
  const send = async (query: string): Promise<{ sent: KubeObject[]; problems: Problem[] }> => {
    const [sent, problems]: [KubeObject[], Problem[]] = [[], []];
    for (const [place, object] of parsed.objects.entries()) {
      try {
        sent.push(await write(method, `${pathOfObject(object)}?${query}`, completed(object)));
      } catch (error) {
        const { message, causes } = error instanceof ApiError ? error : new ApiError(0, String(error));
        problems.push(...problemsOf(parsed, place, message, causes));
      }
    }
    return { sent, problems };
  };

  useEffect(() => {
    if (parsed.problems.length || !parsed.objects.length) return;
    let isWanted = true;
    const timer = setTimeout(() => void send(`${STRICT}&dryRun=All`).then(({ problems }) => isWanted && setRefused({ text, problems })), REST);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [text]);

  const problems = useMemo(() => (parsed.problems.length ? parsed.problems : refused?.text === text ? refused.problems : []), [parsed, refused, text]);
  const submit = async () => {
    setBusy(true);
    const { sent, problems: found } = await send(STRICT);
    setBusy(false);
    setRefused({ text, problems: found });
    if (sent.some((object) => object.kind === "CustomResourceDefinition")) renew();
    if (!found.length) onDone(sent);
    else say(`${found.length === 1 ? "The server refused it" : `The server refused it for ${found.length} reasons`}: ${found[0].message}`, true);
  };
  return (
    <div className="yaml-pane">
      <Editor label={label} value={text} onChange={onText} problems={problems} />
      <div className="problems" aria-live="polite">
        {problems.map((problem, i) => <p key={i}>{problem.line > 0 && <b>line {problem.line}: </b>}{problem.message}</p>)}
        {!problems.length && refused?.text === text && parsed.objects.length > 0 && <p className="hint">The server would accept this.</p>}
      </div>
      <div className="tools">
        <button type="button" className="main" disabled={isBusy || !parsed.objects.length || parsed.problems.length > 0} onClick={() => void submit()}>{verb}</button>
        {children}
        <span className="hint">Ctrl-Space completes. Tab indents; Esc, then Tab leaves the editor.</span>
      </div>
    </div>
  );
}
