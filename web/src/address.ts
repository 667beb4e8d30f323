/** Every view has a link that reopens it: the state of the page lives behind the # of its address. */
import { useEffect, useState } from "react";

export type Address = Record<string, string>;

function read(): Address {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** The address, and how to change parts of it; an empty value removes a part. */
export function useAddress(): [Address, (changes: Address, options?: { push?: boolean }) => void] {
  const [address, setAddress] = useState(read);
  useEffect(() => {
    const follow = () => setAddress(read());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const change = (changes: Address, options: { push?: boolean } = {}) => {
    const next = Object.fromEntries(Object.entries({ ...read(), ...changes }).filter(([, value]) => value !== ""));
    const hash = `#${new URLSearchParams(next)}`;
    if (hash === location.hash) return;
    if (options.push) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
    setAddress(next);
  };
  return [address, change];
}
