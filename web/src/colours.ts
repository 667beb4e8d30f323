/** Colours that a colour-blind reader can tell apart: Okabe and Ito's for kinds, cividis for amounts. */

export const KINDS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c", "#b8a100"];

const CIVIDIS: [number, number, number][] = [
  [0, 34, 78], [26, 56, 111], [66, 78, 108], [97, 100, 111], [125, 124, 120],
  [156, 148, 120], [189, 175, 109], [224, 203, 88], [254, 232, 56],
];

/** A colour for a share from 0 to 1; shares above 1 stay at the end. */
export function shade(share: number): string {
  const position = Math.min(Math.max(share, 0), 1) * (CIVIDIS.length - 1);
  const low = Math.floor(position);
  const high = Math.min(low + 1, CIVIDIS.length - 1);
  const part = position - low;
  const mixed = CIVIDIS[low].map((value, i) => Math.round(value + (CIVIDIS[high][i] - value) * part));
  return `rgb(${mixed.join(",")})`;
}

/** Blue for less, grey for equal, orange for more: differences from -1 to 1. */
export function contrast(difference: number): string {
  const strength = Math.min(Math.abs(difference), 1);
  const target = difference < 0 ? [0, 114, 178] : [213, 94, 0];
  const mixed = target.map((value) => Math.round(205 + (value - 205) * strength));
  return `rgb(${mixed.join(",")})`;
}

/** A colour of the current theme. */
export function themed(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
