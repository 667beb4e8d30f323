/** What every view of the live cluster knows: the kinds that are served, the chosen namespace, and where messages go. */
import { createContext, useContext, useEffect, useState } from "react";
import { mayDo, type Resource } from "./api";

export interface Live {
  resources: Resource[];
  /** Read the kinds again: a definition came or went. */
  renew: () => void;
  user: string;
  version: string;
  say: (text: string, isError?: boolean) => void;
}

export const LiveContext = createContext<Live>({ resources: [], renew: () => undefined, user: "", version: "", say: () => undefined });

export function useLive(): Live {
  return useContext(LiveContext);
}

export function useResource(group: string, plural: string): Resource | undefined {
  return useLive().resources.find((each) => each.group === group && each.plural === plural);
}

/** Whether the user may do something; false until the server has answered. */
export function useMay(verb: string, resource: { group: string; plural: string } | undefined, namespace = "", subresource = ""): boolean {
  const [isAllowed, setAllowed] = useState(false);
  const { group, plural } = resource ?? { group: "", plural: "" };
  useEffect(() => {
    let isWanted = true;
    setAllowed(false);
    if (plural) void mayDo(verb, { group, plural }, namespace, subresource).then((answer) => isWanted && setAllowed(answer));
    return () => {
      isWanted = false;
    };
  }, [verb, group, plural, namespace, subresource]);
  return isAllowed;
}

/** A kind as kubectl spells it: `pods`, `deployments.apps`. */
export function spelling({ group, plural }: { group: string; plural: string }): string {
  return group ? `${plural}.${group}` : plural;
}

/** How long ago, as kubectl prints it. */
export function age(time: string | undefined, now: number): string {
  const seconds = time ? Math.max(0, Math.round((now - Date.parse(time)) / 1000)) : NaN;
  if (Number.isNaN(seconds)) return "";
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
