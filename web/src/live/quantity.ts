/** Amounts of Kubernetes: `100m`, `2Gi`, `1e3`. */
const UNITS: Record<string, number> = {
  "": 1, n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18,
  Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60,
};

/** The number of a quantity; thousandths for cpu, as the columns of runs have it. */
export function parseQuantity(resource: string, text: unknown): number {
  const found = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)$/.exec(String(text ?? "").trim());
  const value = found ? Number(found[1]) * (UNITS[found[2]] ?? 1) : 0;
  return resource === "cpu" ? Math.round(value * 1000) : value;
}
