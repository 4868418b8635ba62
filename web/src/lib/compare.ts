// A comparison's figures as words.
import { duration, plain } from "./numbers.ts";
import type { CompareRow } from "../format.ts";

/** Requests a second, or a time. */
export function figure(row: CompareRow, value: number): string {
  return row.metric === "rps" ? `${plain(value)}/s` : duration(value);
}

/** `0.44–0.48`, or a dash with too few blocks. */
export function interval(row: CompareRow): string {
  return row.low === null || row.high === null ? "–" : `${row.low.toFixed(2)}–${row.high.toFixed(2)}`;
}

/** Where an interval lies on a bar from half to double, in percent of its width; what lies beyond is cut. */
export function span(row: CompareRow): { left: number; width: number } | null {
  if (row.low === null || row.high === null) {
    return null;
  }
  const [low, high] = [at(row.low), at(row.high)];
  return { left: low, width: Math.max(high - low, 0.5) };
}

/** The place of a ratio on that bar; 50 is none. */
export function at(ratio: number): number {
  return Math.min(Math.max(50 + 50 * Math.log2(ratio), 0), 100);
}
