// What the runtime told of itself: names such as `gc_major_count`, whose ending is the unit.
import { bytes, count, duration, plain, share } from "./numbers.ts";

export interface Fact {
  name: string;
  value: string;
}

const UNITS: [ending: string, words: (value: number) => string][] = [
  ["_bytes", bytes],
  ["_ms", duration],
  ["_share", share],
  ["_count", count],
];

/** In the order of their names, the unit with the value. */
export function factsOf(runtime: Record<string, number>): Fact[] {
  return Object.entries(runtime)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => {
      const [ending, words] = UNITS.find(([ending]) => key.endsWith(ending)) ?? ["", plain];
      return { name: key.slice(0, key.length - ending.length).replaceAll("_", " "), value: words(value) };
    });
}
