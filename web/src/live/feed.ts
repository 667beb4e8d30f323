/** List and watch: the rows of a kind, brought up to date as the server tells. Nothing polls. */
import { useEffect, useState, useSyncExternalStore } from "react";
import { ApiError, get, type KubeObject } from "./api";

export interface ColumnDefinition {
  name: string;
  type: string;
  format?: string;
  priority?: number;
}

export interface Row {
  key: string;
  cells: unknown[];
  object: KubeObject;
}

interface Table {
  metadata: { resourceVersion?: string; continue?: string };
  columnDefinitions?: ColumnDefinition[];
  rows: { cells: unknown[]; object: KubeObject }[];
}

const AS_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const PAGE = 2000;
/** Milliseconds between two drawings: a large table takes longer to draw. */
const [OFTEN, SELDOM, LARGE] = [60, 250, 2000];

function keyOf({ metadata }: KubeObject): string {
  return metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
}

/** What no view of many objects shows, and what takes most of the memory. */
function slim(object: KubeObject): KubeObject {
  delete object.metadata.managedFields;
  delete object.metadata.annotations;
  return object;
}

export type FeedState = "loading" | "live" | "waiting" | "refused";

export class Feed {
  readonly rows = new Map<string, Row>();
  columns: ColumnDefinition[] = [];
  state: FeedState = "loading";
  error = "";
  /** Counts drawings; rows are the same objects while it is the same. */
  version = 0;
  /** Events since the page was opened. */
  events = 0;
  private revision = "";
  private aborter: AbortController | undefined;
  private isStopped = true;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly followers = new Set<() => void>();

  /** `parameters` are those of list and watch; `isWhole` keeps annotations and managed fields. */
  constructor(readonly path: string, private readonly parameters: Record<string, string> = {}, private readonly isWhole = false) {}

  start(): void {
    if (!this.isStopped) return;
    this.isStopped = false;
    document.addEventListener("visibilitychange", this.look);
    if (!document.hidden) void this.run();
  }

  stop(): void {
    this.isStopped = true;
    document.removeEventListener("visibilitychange", this.look);
    this.aborter?.abort();
    this.aborter = undefined;
  }

  subscribe = (follow: () => void): (() => void) => {
    this.followers.add(follow);
    return () => this.followers.delete(follow);
  };

  /** A browser has six connections to a server; a page that no one sees gives its back. */
  private look = (): void => {
    if (document.hidden) {
      this.aborter?.abort();
      this.aborter = undefined;
    } else if (!this.aborter && !this.isStopped) void this.run();
  };

  private async run(): Promise<void> {
    const aborter = (this.aborter = new AbortController());
    let pause = 500;
    while (!this.isStopped && !aborter.signal.aborted) {
      try {
        if (!this.revision) await this.list(aborter.signal);
        this.change("live");
        await this.watch(aborter.signal);
        pause = 500;
      } catch (error) {
        if (aborter.signal.aborted) return;
        if (error instanceof ApiError && error.code === 410) {
          this.revision = "";
          continue;
        }
        const isFinal = error instanceof ApiError && [401, 403, 404, 405].includes(error.code);
        this.change(isFinal ? "refused" : "waiting", String((error as Error).message));
        if (isFinal) return;
        await new Promise((resolve) => setTimeout(resolve, pause));
        pause = Math.min(2 * pause, 10_000);
      }
    }
  }

  private query(more: Record<string, string>): string {
    const include = this.parameters.includeObject ?? "Metadata";
    return `${this.path}?${new URLSearchParams({ ...this.parameters, includeObject: include, ...more })}`;
  }

  private async list(signal: AbortSignal): Promise<void> {
    const rows: Row[] = [];
    let from = "";
    do {
      const table = await get<Table>(this.query({ limit: String(PAGE), ...(from ? { continue: from } : {}) }), { accept: AS_TABLE });
      if (signal.aborted) return;
      if (table.columnDefinitions?.length) this.columns = table.columnDefinitions;
      for (const row of table.rows) rows.push(this.rowOf(row));
      from = table.metadata.continue ?? "";
      this.revision = table.metadata.resourceVersion ?? "";
    } while (from);
    this.rows.clear();
    for (const row of rows) this.rows.set(row.key, row);
    this.changed();
  }

  private rowOf({ cells, object }: { cells: unknown[]; object: KubeObject }): Row {
    return { key: keyOf(object), cells, object: this.isWhole ? object : slim(object) };
  }

  private async watch(signal: AbortSignal): Promise<void> {
    const path = this.query({ watch: "1", allowWatchBookmarks: "true", resourceVersion: this.revision });
    const answer = await fetch(path, { headers: { accept: AS_TABLE }, signal });
    if (!answer.ok) throw new ApiError(answer.status, await answer.text());
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop()!;
      for (const line of lines) if (line) this.take(JSON.parse(line) as { type: string; object: Table & KubeObject });
    }
  }

  private take({ type, object }: { type: string; object: Table & KubeObject }): void {
    if (type === "ERROR") throw new ApiError(object.code ?? 500, object.message ?? "the watch has ended");
    const found = object.rows?.[0];
    this.revision = found?.object.metadata.resourceVersion ?? object.metadata?.resourceVersion ?? this.revision;
    if (type === "BOOKMARK" || !found) return;
    if (object.columnDefinitions?.length) this.columns = object.columnDefinitions;
    const row = this.rowOf(found);
    if (type === "DELETED") this.rows.delete(row.key);
    else this.rows.set(row.key, row);
    this.events += 1;
    this.changed();
  }

  private change(state: FeedState, error = ""): void {
    if (state === this.state && error === this.error) return;
    this.state = state;
    this.error = error;
    this.changed();
  }

  private changed(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.version += 1;
      this.followers.forEach((follow) => follow());
    }, this.rows.size > LARGE ? SELDOM : OFTEN);
  }
}

const open = new Map<string, { feed: Feed; users: number }>();

/** The feed of a path, shared by all views that show it; it goes on for a moment after the last one. */
export function useFeed(path: string | undefined, parameters: Record<string, string> = {}, isWhole = false): Feed | undefined {
  const key = path === undefined ? "" : `${path} ${JSON.stringify(parameters)} ${isWhole}`;
  const [feed, setFeed] = useState<Feed>();
  useEffect(() => {
    if (!key) return setFeed(undefined);
    const entry = open.get(key) ?? { feed: new Feed(path!, parameters, isWhole), users: 0 };
    open.set(key, entry);
    entry.users += 1;
    entry.feed.start();
    setFeed(entry.feed);
    return () => {
      entry.users -= 1;
      setTimeout(() => {
        if (entry.users > 0) return;
        entry.feed.stop();
        open.delete(key);
      }, 2000);
    };
  }, [key]);
  useSyncExternalStore(feed?.subscribe ?? NEVER, () => feed?.version ?? 0);
  return feed?.path === path ? feed : undefined;
}

const NEVER = () => () => undefined;
