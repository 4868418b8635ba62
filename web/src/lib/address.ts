// What of a flame graph stands in the page's address, behind the section: `#stacks?route=GET+%2Forders&focus=Order%23total`.

import type { FlameFrame } from "../format.ts";

export interface Address {
  /** Name of the graph. */
  route?: string;
  /** The method that fills the width; with the line on which it begins, where others have its name, as blocks do. */
  focus?: string;
  search?: string;
  /** `1` where only the app's own code is shown. */
  mine?: string;
}

const KEYS = ["route", "focus", "search", "mine"] as const;

/** What the address says of a section; `null` where it is of another, or says nothing. */
export function parse(hash: string, section: string): Address | null {
  const start = `#${section}?`;
  if (!hash.startsWith(start)) return null;
  const said = new URLSearchParams(hash.slice(start.length));
  return Object.fromEntries(KEYS.flatMap((key) => (said.get(key) ? [[key, said.get(key)]] : [])));
}

/** The address of a section in a state; the section alone where it is in none. */
export function write(section: string, state: Address): string {
  const known = KEYS.flatMap((key) => (state[key] ? [[key, state[key]]] : []));
  return known.length > 0 ? `#${section}?${new URLSearchParams(known)}` : `#${section}`;
}

/** A method with its line, as an address names it. */
export function focusOf(frame: FlameFrame): string {
  return `${frame[0]}:${frame[2]}`;
}
