// A load's times as columns of a table.
import type { LoadTimes, Milliseconds } from "../format.ts";

/** Percentiles by name, in the order in which they are shown. */
export function percentiles(times: LoadTimes): [string, Milliseconds | null][] {
  return [
    ["p50", times.p50],
    ["p90", times.p90],
    ["p95", times.p95],
    ["p99", times.p99],
    ["p99.9", times["p99.9"]],
    ["max", times.max],
  ];
}
