/** Colours that a colour-blind reader can tell apart: Okabe and Ito's for kinds, a scale of one hue for amounts. */

export const KINDS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c", "#b8a100"];

/** Amounts from light to dark, and from dark to light on a dark ground: more always stands out more. */
const LIGHT: [number, number, number][] = [[234, 242, 250], [178, 207, 233], [104, 160, 212], [38, 107, 176], [8, 48, 107]];
const DARK: [number, number, number][] = [[30, 44, 60], [36, 74, 112], [52, 118, 176], [112, 174, 226], [208, 232, 252]];

export const SHADES = 48;

export function isDark(): boolean {
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

const ramps = new Map<boolean, string[]>();

/** Colours for amounts from the least to the most. */
export function ramp(): string[] {
  const dark = isDark();
  const known = ramps.get(dark);
  if (known) return known;
  const stops = dark ? DARK : LIGHT;
  const colours = Array.from({ length: SHADES }, (_, i) => {
    const position = (i / (SHADES - 1)) * (stops.length - 1);
    const low = Math.min(Math.floor(position), stops.length - 2);
    const mixed = stops[low].map((value, c) => Math.round(value + (stops[low + 1][c] - value) * (position - low)));
    return `rgb(${mixed.join(",")})`;
  });
  ramps.set(dark, colours);
  return colours;
}

/** The colour of a share from 0 to 1. */
export function shade(share: number): string {
  return ramp()[Math.round(Math.min(Math.max(share, 0), 1) * (SHADES - 1))];
}

/** Blue for less, grey for equal, orange for more: differences from -1 to 1. */
export function contrast(difference: number): string {
  const strength = Math.min(Math.abs(difference), 1);
  const target = difference < 0 ? [0, 114, 178] : [213, 94, 0];
  const mixed = target.map((value) => Math.round(205 + (value - 205) * strength));
  return `rgb(${mixed.join(",")})`;
}

const themes = new Map<string, string>();

/** A colour of the current theme; asked for once, since the answer costs a pass over the styles of the page. */
export function themed(name: string): string {
  const key = `${name} ${isDark()}`;
  let colour = themes.get(key);
  if (colour === undefined) {
    colour = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    themes.set(key, colour);
  }
  return colour;
}
