// A comparison's figures as words, its verdict as a headline, and its intervals on an axis.
import { t } from "../words.ts";
import { duration, plain, share } from "./numbers.ts";
import type { Claim, Compare, CompareRow, Decision } from "../format.ts";

/** Requests per second, or a time. */
export function figure(row: CompareRow, value: number): string {
  return row.metric === "rps" ? `${plain(value)}/s` : duration(value);
}

/** What a row is of. */
export function metric(row: CompareRow): string {
  const names: Record<string, string> = { rps: t("requests/s"), cpu: t("CPU per request"), p100: t("max") };
  return names[row.metric] ?? row.metric;
}

/** What is claimed of a row. */
export function claim(row: CompareRow): string {
  const words: Record<Claim, string> = {
    faster: t("faster"),
    slower: t("slower"),
    less: t("less"),
    more: t("more"),
    same: t("no difference"),
    unclear: t("not decided"),
  };
  return words[row.verdict];
}

/** `0.44–0.48`, or a dash with too few blocks. */
export function interval(row: CompareRow): string {
  return row.low === null || row.high === null ? "–" : `${row.low.toFixed(2)}–${row.high.toFixed(2)}`;
}

export type Tone = "good" | "bad" | "mixed" | "none";

export interface Headline {
  text: string;
  /** How sure it is. */
  note: string;
  tone: Tone;
}

const TONES: Record<Decision, Tone> = {
  faster: "good",
  cheaper: "good",
  slower: "bad",
  costlier: "bad",
  mixed: "mixed",
  same: "none",
  unclear: "none",
  failed: "none",
};

/** The verdict in a few words: `2.1× the throughput, p50 −54%`. */
export function headline(compare: Pick<Compare, "decision" | "is_noise" | "rows">): Headline {
  const tone = TONES[compare.decision];
  if (compare.decision === "failed") return { text: t("No comparison"), note: "", tone };
  if (compare.decision === "unclear") return { text: t("Not decided"), note: "", tone };
  if (compare.decision === "same") {
    const text = compare.is_noise ? t("A does not differ from itself") : t("No difference in throughput");
    return { text, note: within(compare.rows), tone };
  }
  return { text: told(compare.rows).map(change).join(", "), note: t("sure"), tone };
}

/** The rows that carry a headline: throughput, the median and p95 as far as they are claimed, else the first that is. */
function told(rows: CompareRow[]): CompareRow[] {
  const claimed = rows.filter((row) => row.verdict !== "same" && row.verdict !== "unclear");
  const first = claimed.filter((row) => ["rps", "p50", "p95"].includes(row.metric));
  const opposed = claimed.find((row) => first.length > 0 && first.every((one) => one.verdict !== row.verdict));
  return first.length > 0 ? [...first, ...(opposed ? [opposed] : [])] : claimed.slice(0, 2);
}

/** `2.1× the throughput`, `p50 −54%`. */
function change(row: CompareRow): string {
  if (row.metric === "rps") return t("{ratio}× the throughput", { ratio: Number(row.ratio.toPrecision(2)) });
  return `${metric(row)}\u00a0${signed(row.ratio - 1)}`;
}

function signed(part: number): string {
  return `${part < 0 ? "−" : "+"}${share(Math.abs(part))}`;
}

/** How far throughput may differ at most: `±3%`. */
function within(rows: CompareRow[]): string {
  const rate = rows.find((row) => row.metric === "rps");
  if (!rate || rate.low === null || rate.high === null) return "";
  return `±${share(Math.max(Math.abs(rate.low - 1), Math.abs(rate.high - 1)))}`;
}

/** What to do with a verdict. */
export function next(decision: Decision): string {
  const steps: Record<Decision, string> = {
    faster: t("Keep B. `hakaru run` then shows what limits it next."),
    cheaper: t("Keep B: it leaves room on the cores. `hakaru run` then shows what limits it next."),
    slower: t("Keep A."),
    costlier: t("Keep A, unless B gives something that no row shows."),
    mixed: t("B gives and takes: decide by the rows that count for your users."),
    same: t("Choose by what is simpler; speed does not decide."),
    unclear: t("Measure longer (`--budget`), or on a host where less else runs."),
    failed: t("Mend what kept a side from answering, then compare again."),
  };
  return steps[decision];
}

/** An axis of ratios, as far to the left of 1 as to its right, on which nothing that is known is cut. */
export interface RatioAxis {
  /** The ratio at its right end. */
  end: number;
  ticks: number[];
}

const ENDS = [1.1, 1.25, 1.5, 2, 3, 4, 8, 16, 32, 64];
const TICKS = [1.02, 1.05, 1.1, 1.25, 1.5, 2, 3, 4, 8, 16, 32, 64];
/** Percent of the axis between two labels. */
const TICK_DISTANCE_MIN = 15;

export function ratioAxis(rows: CompareRow[]): RatioAxis {
  const known = rows.flatMap((row) => [row.ratio, row.low, row.high]).filter((ratio) => ratio !== null && ratio > 0);
  const far = Math.max(0, ...known.map((ratio) => Math.abs(Math.log(ratio ?? 1))));
  const end = ENDS.find((end) => Math.log(end) >= far) ?? Math.exp(far);
  let last = 1;
  const right = TICKS.filter((tick) => {
    const fits = tick <= end && place(tick, end) - place(last, end) >= TICK_DISTANCE_MIN;
    if (fits) last = tick;
    return fits;
  });
  return { end, ticks: [...right.map((tick) => 1 / tick).reverse(), 1, ...right] };
}

/** The place of a ratio on an axis, in percent of its width; 50 is no change. */
export function place(ratio: number, end: number): number {
  return Math.min(Math.max(50 + (50 * Math.log(ratio)) / Math.log(end), 0), 100);
}

/** Where an interval lies on an axis; `null` where there is none. */
export function span(row: CompareRow, end: number): { left: number; width: number } | null {
  if (row.low === null || row.high === null) return null;
  const [low, high] = [place(row.low, end), place(row.high, end)];
  return { left: low, width: Math.max(high - low, 0.5) };
}
