// How colours differ for people, those who do not see all of them included. Used by tests of the style sheet; a flame
// graph asks for the colour of its letters.

/** Red, green, blue, 0 to 1, as a screen takes them. */
export type Rgb = readonly [number, number, number];

/** Reads `#0b5cad`. */
export function parseHex(text: string): Rgb {
  const part = (at: number) => parseInt(text.slice(at, at + 2), 16) / 255;
  return [part(1), part(3), part(5)];
}

function linear(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

/** Relative luminance as WCAG 2 defines it. */
export function luminance(colour: Rgb): number {
  return 0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2]);
}

/** Contrast as WCAG 2 defines it, 1 to 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [a, b] = [luminance(one) + 0.05, luminance(other) + 0.05];
  return Math.max(a, b) / Math.min(a, b);
}

/** Where black letters become more legible than white ones: both then have a contrast of 4.6. */
const LUMINANCE_BETWEEN = 0.179;

/** Black or white, whichever is legible on a colour as the browser resolves it: `rgb(…)` or `color(srgb …)`. */
export function letters(ground: string): "#000" | "#fff" {
  const parts = [...ground.matchAll(/[\d.]+(e-\d+)?/g)].map(([number]) => Number(number));
  const full = ground.startsWith("color") ? 1 : 255;
  const [red = 0, green = 0, blue = 0] = parts.map((part) => part / full);
  return luminance([red, green, blue]) > LUMINANCE_BETWEEN ? "#000" : "#fff";
}
