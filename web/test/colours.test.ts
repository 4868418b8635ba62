import assert from "node:assert/strict";
import { test } from "node:test";

import { contrast, letters, luminance, parseHex, type Rgb } from "../src/lib/colours.ts";
import styles from "../src/style.css?raw";

/** Of the variables in the style sheet: light and dark. */
const COLOURS = new Map(
  [...styles.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name, light, dark]) => [
    name ?? "",
    { light: parseHex(light ?? ""), dark: parseHex(dark ?? "") },
  ]),
);
type Scheme = "light" | "dark";
const SCHEMES: readonly Scheme[] = ["light", "dark"];

function colour(name: string, scheme: Scheme): Rgb {
  const known = COLOURS.get(name);
  assert.ok(known, `--${name} is not in the style sheet`);
  return known[scheme];
}

const STATES = [...COLOURS.keys()].filter((name) => name.startsWith("state-"));
const SERIES = [...COLOURS.keys()].filter((name) => name.startsWith("series-"));

/** Full dichromacy after Machado, Oliveira and Fernandes (2009), on linear light; the first is normal sight. */
const SIGHTS: Record<string, readonly Rgb[]> = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

function linear(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

const product = (row: Rgb, by: Rgb) => row[0] * by[0] + row[1] * by[1] + row[2] * by[2];

/** CIE L*a*b* under D65 of what that sight makes of a colour. */
function lab(colour: Rgb, sight: readonly Rgb[]): Rgb {
  const light: Rgb = [linear(colour[0]), linear(colour[1]), linear(colour[2])];
  const [r, g, b] = sight.map((row) => Math.min(Math.max(product(row, light), 0), 1));
  const seen: Rgb = [r ?? 0, g ?? 0, b ?? 0];
  const f = (value: number) => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116);
  const x = f(product([0.4124564, 0.3575761, 0.1804375], seen) / 0.95047);
  const y = f(product([0.2126729, 0.7151522, 0.072175], seen));
  const z = f(product([0.0193339, 0.119192, 0.9503041], seen) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** The distance in L*a*b* (CIE 1976): simple, and stricter than later ones where colours are dark. */
function distance(one: Rgb, other: Rgb, sight: readonly Rgb[]): number {
  const [a, b] = [lab(one, sight), lab(other, sight)];
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

const DISTANCE_MIN = 10;
const GRAPHICS_CONTRAST_MIN = 3;
const TEXT_CONTRAST_MIN = 4.5;

function checkPairs(names: string[]): void {
  for (const scheme of SCHEMES) {
    for (const [sight, rows] of Object.entries(SIGHTS)) {
      names.forEach((one, index) => {
        for (const other of names.slice(index + 1)) {
          const apart = distance(colour(one, scheme), colour(other, scheme), rows);
          assert.ok(apart >= DISTANCE_MIN, `${one} and ${other}, ${scheme}, ${sight}: ${apart.toFixed(1)}`);
        }
      });
    }
  }
}

function checkContrast(names: string[], grounds: string[], least: number): void {
  for (const scheme of SCHEMES) {
    for (const name of names) {
      for (const ground of grounds) {
        const seen = contrast(colour(name, scheme), colour(ground, scheme));
        assert.ok(seen >= least, `${name} on ${ground}, ${scheme}: ${seen.toFixed(2)}`);
      }
    }
  }
}

test("the simulation keeps greys and confuses red with green", () => {
  for (const rows of Object.values(SIGHTS)) {
    assert.ok(distance([0.5, 0.5, 0.5], [0.6, 0.6, 0.6], rows) > 5);
  }
  const [red, green]: Rgb[] = [parseHex("#b05a3c"), parseHex("#7a7a3a")];
  assert.ok(red && green && SIGHTS["normal"] && SIGHTS["deuteranopia"]);
  assert.ok(distance(red, green, SIGHTS["normal"]) > 3 * distance(red, green, SIGHTS["deuteranopia"]));
});

test("all states are told apart, with any kind of colour blindness", () => {
  assert.equal(STATES.length, 13);
  // What a slow request did outside of the app lies beside states too.
  checkPairs([...STATES, "line"]);
});

test("the lines of a chart are told apart, with any kind of colour blindness", () => {
  assert.equal(SERIES.length, 4);
  checkPairs(SERIES);
});

test("graphics and the edges of fields stand out from what they lie on", () => {
  const drawn = [...STATES, ...SERIES, "edge", "accent", "good", "warn", "bad"];
  checkContrast(drawn, ["paper", "card"], GRAPHICS_CONTRAST_MIN);
});

test("text is legible on every ground it has", () => {
  checkContrast(["ink", "faint", "accent", "good", "warn", "bad"], ["paper", "card"], TEXT_CONTRAST_MIN);
  for (const kind of ["good", "warn", "bad"]) checkContrast([kind, "ink"], [`${kind}-back`], TEXT_CONTRAST_MIN);
  checkContrast(["ink", "accent"], ["accent-back"], TEXT_CONTRAST_MIN);
});

test("letters on a state are black or white, whichever is legible", () => {
  for (const scheme of SCHEMES) {
    for (const name of STATES) {
      const ground = colour(name, scheme);
      const best = luminance(ground) > 0.179 ? contrast(ground, [0, 0, 0]) : contrast(ground, [1, 1, 1]);
      assert.ok(best >= TEXT_CONTRAST_MIN, `${name}, ${scheme}: ${best.toFixed(2)}`);
    }
  }
});

test("letters take the colours that a browser resolves", () => {
  assert.deepEqual(
    ["rgb(155, 215, 247)", "rgb(80, 8, 65)", "color(srgb 0.9 0.9 0.1)", "color(srgb 0.1 0.05 1e-3)"].map(letters),
    ["#000", "#fff", "#000", "#fff"],
  );
});
