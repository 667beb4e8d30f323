/** Every view has a link that reopens it: the state of the page lives behind the # of its address. */
import { useSyncExternalStore } from "react";

export type Address = Record<string, string>;

let current = read();
const followers = new Set<() => void>();

function read(): Address {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

function subscribe(follow: () => void): () => void {
  followers.add(follow);
  return () => followers.delete(follow);
}

addEventListener("hashchange", () => {
  current = read();
  followers.forEach((follow) => follow());
});

/** Change parts of the address; an empty value removes a part. */
export function go(changes: Address, options: { push?: boolean } = {}): void {
  const next = Object.fromEntries(Object.entries({ ...current, ...changes }).filter(([, value]) => value !== ""));
  // Slashes, colons and commas are readable in a fragment and need no escape.
  const text = new URLSearchParams(next).toString().replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%2C", ",");
  const hash = `#${text}`;
  if (hash === location.hash || (hash === "#" && !location.hash)) return;
  if (options.push) history.pushState(null, "", hash);
  else history.replaceState(null, "", hash);
  current = next;
  followers.forEach((follow) => follow());
}

/** Go to another place, as a link does: the cursor follows. */
export function visit(changes: Address): void {
  go(changes, { push: true });
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function addressNow(): Address {
  return current;
}

export function useAddress(): Address {
  return useSyncExternalStore(subscribe, addressNow);
}
