/** Where the data of a run comes from: one interface, embedded in the page or over HTTP. */
import type { Attempts, Cells, Cluster, Comparison, Detail, Lanes, Summary } from "./data";

export interface RunSource {
  summary(): Promise<Summary>;
  cluster(): Promise<Cluster>;
  /** The rows of attempts, and the texts that they refer to. */
  attempts(): Promise<{ attempts: Attempts; lists: unknown[] }>;
  lanes(): Promise<Lanes>;
  /** What one attempt tells beyond its row: its scores and verdicts, its victims, the answers of extenders. */
  decision(attempt: number): Promise<Detail>;
  /** The same where it is here already: scrubbing does not wait. */
  decisionNow(attempt: number): Detail | undefined;
}

/** Cells whose lists are written as places in `lists`. */
interface NumberedCells {
  nodes: number;
  filters: number;
  verdicts: number;
  feasible: number;
  plugins: number;
  weights: number;
  raw: number[];
  normalized: number[];
  total: number;
}

type NumberedDetail = Omit<Detail, "cells"> & { cells?: NumberedCells };

/** Put what the details of an attempt refer to in the place of its number. */
function filled(detail: NumberedDetail, lists: unknown[], said: string[][]): Detail {
  const { cells } = detail;
  if (!cells) return detail as Detail;
  const list = <T,>(place: number) => lists[place] as T;
  const whole: Cells = {
    nodes: list(cells.nodes),
    filters: list(cells.filters),
    verdicts: list(cells.verdicts),
    said,
    feasible: list(cells.feasible),
    plugins: list(cells.plugins),
    weights: list(cells.weights),
    raw: cells.raw.map((place) => list<number[]>(place)),
    normalized: cells.normalized.map((place) => list<number[]>(place)),
    total: list(cells.total),
  };
  return { ...detail, cells: whole };
}

/** A run whose columns are in the page. */
export interface EmbeddedRun extends Summary, Cluster, Lanes {
  attempts: Attempts;
  lists: unknown[];
  verdicts: string[][];
  details: NumberedDetail[];
}

export class EmbeddedSource implements RunSource {
  constructor(private readonly run: EmbeddedRun) {}

  async summary(): Promise<Summary> {
    return this.run;
  }

  async cluster(): Promise<Cluster> {
    return this.run;
  }

  async attempts(): Promise<{ attempts: Attempts; lists: unknown[] }> {
    return this.run;
  }

  async lanes(): Promise<Lanes> {
    return this.run;
  }

  async decision(attempt: number): Promise<Detail> {
    return this.decisionNow(attempt);
  }

  decisionNow(attempt: number): Detail {
    return filled(this.run.details[attempt] ?? {}, this.run.lists, this.run.verdicts);
  }
}

export interface EmbeddedPage extends Comparison {
  kind: "report" | "compare";
  runs: EmbeddedRun[];
}

/** Decode the page that is inlined in this document. */
export async function embeddedPage(): Promise<EmbeddedPage> {
  const text = document.getElementById("data")?.textContent?.trim() ?? "";
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as EmbeddedPage;
}

/** Ask for JSON; the message of a refusal is the error. */
export async function getJson<T>(path: string): Promise<T> {
  const answer = await fetch(path, { headers: { accept: "application/json" } });
  if (!answer.ok) throw new Error((await answer.text()) || `${answer.status} ${answer.statusText}`);
  return (await answer.json()) as T;
}

const TYPES = { i4: Int32Array, f8: Float64Array } as const;

/** A document whose lists of numbers are sent as binary columns: `{"column": [type, offset, length]}`. */
export async function getColumns<T>(path: string): Promise<T> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error((await answer.text()) || `${answer.status} ${answer.statusText}`);
  const buffer = await answer.arrayBuffer();
  const start = 4 + new DataView(buffer).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, 4, start - 4));
  const base = Math.ceil(start / 8) * 8;
  return JSON.parse(text, (_, value) => {
    const column = value?.column as [keyof typeof TYPES, number, number] | undefined;
    return column ? new TYPES[column[0]](buffer, base + column[1], column[2]) : value;
  }) as T;
}

const KEPT = 256;
const RANGE = 50_000;

/** A run of `seatrial ui`: columns over HTTP, decisions one by one. */
export class HttpSource implements RunSource {
  private readonly kept = new Map<number, Detail>();

  constructor(private readonly path: string) {}

  summary(): Promise<Summary> {
    return getJson(`${this.path}/summary`);
  }

  cluster(): Promise<Cluster> {
    return getColumns(`${this.path}/cluster`);
  }

  async attempts(): Promise<{ attempts: Attempts; lists: unknown[] }> {
    type Part = { attempts: Attempts; lists: unknown[]; total: number };
    const first = await getColumns<Part>(`${this.path}/attempts?from=0&to=${RANGE}`);
    const parts = [first];
    for (let from = RANGE; from < first.total; from += RANGE) {
      parts.push(await getColumns<Part>(`${this.path}/attempts?from=${from}&to=${from + RANGE}`));
    }
    if (parts.length === 1) return first;
    const names = Object.keys(first.attempts) as (keyof Attempts)[];
    const joined = names.map((name) => [name, parts.flatMap((part) => Array.from(part.attempts[name]))]);
    return { attempts: Object.fromEntries(joined) as Attempts, lists: first.lists };
  }

  lanes(): Promise<Lanes> {
    return getColumns(`${this.path}/lanes`);
  }

  async decision(attempt: number): Promise<Detail> {
    const known = this.kept.get(attempt);
    if (known) return known;
    type Answer = { detail: NumberedDetail; lists: unknown[]; verdicts: string[][] };
    const { detail, lists, verdicts } = await getJson<Answer>(`${this.path}/decisions/${attempt}`);
    const found = filled(detail, lists, verdicts);
    if (this.kept.size >= KEPT) this.kept.delete(this.kept.keys().next().value!);
    this.kept.set(attempt, found);
    return found;
  }

  decisionNow(attempt: number): Detail | undefined {
    return this.kept.get(attempt);
  }
}
