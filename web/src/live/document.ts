/** YAML that a user writes: its documents, where a field is in the text, and what the cursor is in. */
import { isMap, isSeq, LineCounter, parseAllDocuments, stringify, type Document, type Node } from "yaml";
import type { Cause, KubeObject } from "./api";
import type { Problem } from "./editor";

export interface Parsed {
  objects: KubeObject[];
  documents: Document.Parsed[];
  lines: LineCounter;
  problems: Problem[];
}

export function parse(text: string): Parsed {
  const lines = new LineCounter();
  const documents = (parseAllDocuments(text, { lineCounter: lines }) as Document.Parsed[]).filter((document) => document.contents !== null || document.errors.length);
  const problems = documents.flatMap((document) => document.errors.map((error) => ({ line: lines.linePos(error.pos[0]).line, message: error.message.split("\n")[0] })));
  const objects: KubeObject[] = [];
  if (!problems.length) {
    for (const document of documents) {
      const object = document.toJS() as KubeObject | null;
      const line = lines.linePos(document.range[0]).line;
      if (object === null || typeof object !== "object" || Array.isArray(object)) problems.push({ line, message: "expected an object with apiVersion and kind" });
      else if (!object.apiVersion || !object.kind) problems.push({ line, message: `${object.apiVersion ? "kind" : "apiVersion"} is missing` });
      else objects.push(object);
    }
  }
  return { objects, documents, lines, problems };
}

/** The line of a field such as `spec.containers[0].name`: the nearest part of it that is in the text. */
export function lineOf({ documents, lines }: Parsed, place: number, field: string): number {
  const document = documents[place];
  let node: unknown = document?.contents;
  let offset = document?.range[0] ?? 0;
  for (const part of field.match(/[^.[\]]+/g) ?? []) {
    if (isMap(node)) {
      const pair = node.items.find((each) => String((each.key as { value?: unknown }).value ?? each.key) === part);
      if (!pair) break;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      if (!node) break;
      offset = (node as Node).range?.[0] ?? offset;
    } else break;
  }
  return lines.linePos(offset).line;
}

export function problemsOf(parsed: Parsed, place: number, message: string, causes: Cause[]): Problem[] {
  if (causes.some((cause) => cause.field)) return causes.map((cause) => ({ line: lineOf(parsed, place, cause.field ?? ""), message: `${cause.field}: ${cause.message}` }));
  const unknown = [...message.matchAll(/unknown field "([^"]+)"/g)].map((found) => ({ line: lineOf(parsed, place, found[1]), message: `unknown field ${found[1]}` }));
  return unknown.length ? unknown : [{ line: lineOf(parsed, place, ""), message }];
}

const RESULTS = "kube-scheduler-simulator.sigs.k8s.io/";

function resultsOf({ metadata }: KubeObject): [string, string][] {
  return Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith(RESULTS));
}

/** An object as YAML, without what only machines read: managed fields, and the scheduler's results, which have a view. */
export function toYaml(object: KubeObject): string {
  const { managedFields: _, annotations = {}, ...metadata } = object.metadata;
  const { apiVersion, kind, ...rest } = object;
  const shown = Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith(RESULTS)));
  return stringify({ apiVersion, kind, ...rest, metadata: { ...metadata, ...(Object.keys(shown).length ? { annotations: shown } : {}) } }, { lineWidth: 0, aliasDuplicateObjects: false, sortMapEntries: false });
}

/** An object that was edited as YAML, with what the YAML did not show. */
export function withResults(edited: KubeObject, object: KubeObject): KubeObject {
  const results = resultsOf(object);
  if (!results.length || !edited.metadata) return edited;
  return { ...edited, metadata: { ...edited.metadata, annotations: { ...edited.metadata.annotations, ...Object.fromEntries(results) } } };
}

/** What the cursor is in: the kind of its document and the path of fields, read from the indentation. */
export interface Where {
  apiVersion: string;
  kind: string;
  path: string[];
  isValue: boolean;
}

export function contextAt(text: string, position: number): Where | undefined {
  const before = text.slice(0, position);
  const start = before.lastIndexOf("\n---") < 0 ? 0 : before.lastIndexOf("\n---") + 4;
  const end = text.indexOf("\n---", position);
  const whole = text.slice(start, end < 0 ? text.length : end);
  const [apiVersion, kind] = ["apiVersion", "kind"].map((key) => new RegExp(`^${key}:\\s*["']?([^\\s"']+)`, "m").exec(whole)?.[1] ?? "");
  const lines = text.slice(start, position).split("\n");
  const last = lines.pop() ?? "";
  const value = /^[\s-]*([\w.\-/]+):\s+\S*$/.exec(last);
  let indent = /^[\s-]*/.exec(last)![0].length;
  const path: string[] = value ? [value[1]] : [];
  for (let i = lines.length - 1; i >= 0 && indent > 0; i--) {
    const found = /^([\s-]*)([\w.\-/]+):/.exec(lines[i]);
    if (!found || found[1].length >= indent) continue;
    // A list may start at the indentation of its field.
    indent = found[1].replace(/-\s*$/, "").length;
    path.unshift(found[2]);
    if (found[1].includes("-")) indent = found[1].indexOf("-") + (found[1].startsWith("-") ? 0.5 : 0.5);
  }
  return { apiVersion, kind, path, isValue: value !== null };
}
