// A load's times as columns of a table.
import type { Load, LoadSecond, LoadTimes, Milliseconds } from "../format.ts";

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

/** The stretches of the series that lie within the load; a last one that is cut short would look like a collapse. */
export function wholeSeconds(load: Pick<Load, "seconds" | "series">): LoadSecond[] {
  const [first, next] = load.series;
  const length = first && next ? next.at_s - first.at_s : 1;
  const whole = load.series.filter((second) => second.at_s + length <= load.seconds + 0.01 * length);
  return whole.length > 0 ? whole : load.series;
}
