// The terms of the balance, and how a route's bar is cut.
import type { Balance, Milliseconds, Share, Term } from "../format.ts";
import { t } from "../words.ts";

/** Why time passes in a term; it decides the pattern, so that colour is never needed. */
export type Kind = "turn" | "others" | "work" | "unknown";

export interface TermWords {
  term: Term;
  letter: string;
  name: string;
  meaning: string;
  kind: Kind;
}

/** In the order in which a request meets them; letters and names are those of the terminal page. */
export const TERMS: readonly TermWords[] = [
  { term: "queue", letter: "Q", name: "queue", meaning: "waiting for a free thread of the server", kind: "turn" },
  { term: "gvl_wait", letter: "V", name: "gvl wait", meaning: "waiting for Ruby's lock, held by other threads", kind: "turn" },
  { term: "gc", letter: "G", name: "gc", meaning: "collecting garbage", kind: "work" },
  { term: "sql", letter: "S", name: "sql", meaning: "inside SQL calls", kind: "others" },
  { term: "http", letter: "H", name: "http", meaning: "inside calls to other services", kind: "others" },
  { term: "lock", letter: "L", name: "lock", meaning: "waiting for a Mutex, Queue or Monitor of the app", kind: "turn" },
  { term: "sleep", letter: "Z", name: "sleep", meaning: "in sleep", kind: "others" },
  { term: "other_io", letter: "I", name: "other io", meaning: "I/O that is neither SQL nor HTTP", kind: "others" },
  { term: "cpu", letter: "C", name: "cpu", meaning: "running Ruby code", kind: "work" },
  { term: "cpu_wait", letter: "W", name: "cpu wait", meaning: "waiting for a core of this machine", kind: "turn" },
  { term: "respond", letter: "R", name: "respond", meaning: "sending the answer", kind: "work" },
  { term: "unaccounted", letter: "?", name: "unaccounted", meaning: "missed by the events; never hidden in another term", kind: "unknown" },
];

/** A term's words in the page's language, and how it is drawn. */
export interface TermKey extends TermWords {
  /** Classes of the style sheet: a colour and a pattern. */
  look: string;
}

/** What a stacked bar is made of. */
export interface Piece {
  name: string;
  /** Stands on the piece where there is room; none where it is empty. */
  letter: string;
  look: string;
  ms: Milliseconds;
  /** Of the bar. */
  share: Share;
}

export interface Part extends TermKey, Piece {}

export interface Bar {
  mean: Milliseconds;
  parts: Part[];
}

/** A term in the page's language, ready to be drawn. */
export function inWords(words: TermWords): TermKey {
  return { ...words, name: t(words.name), meaning: t(words.meaning), look: `term-${words.term} kind-${words.kind}` };
}

/** All terms of a balance with their share of the mean; `unaccounted` may be below zero. */
export function bar(balance: Balance): Bar {
  const mean = TERMS.reduce((sum, { term }) => sum + balance[term], 0);
  const parts = TERMS.map((words) => {
    const ms = balance[words.term];
    return { ...inWords(words), ms, share: mean > 0 ? ms / mean : 0 };
  });
  return { mean, parts };
}

/** Parts worth a label: those of 1 % or more, greatest first. */
export function telling(bar: Bar): Part[] {
  const parts = bar.parts.filter((part) => Math.abs(part.share) >= 0.01);
  return parts.sort((a, b) => Math.abs(b.ms) - Math.abs(a.ms));
}

/** Terms that any of the bars shows, in their order, for the legend. */
export function used(bars: Bar[]): TermKey[] {
  const shown = bars.flatMap((bar) => bar.parts.filter((part) => Math.abs(part.share) >= 0.01));
  return TERMS.flatMap(({ term }) => shown.find((part) => part.term === term) ?? []);
}
