// The percentile curve: shares on an axis that gives each further nine the same room.
import type { CurvePoint, Share } from "../format.ts";

/** 0 for 0 %, 1 for 90 %, 2 for 99 %, 3 for 99.9 %. */
export function nines(share: Share): number {
  return -Math.log10(1 - share);
}

/** Columns for the chart. The greatest value stands half a nine behind the last percentile. */
export function columns(curve: CurvePoint[]): [number[], number[], (number | null)[]] {
  const known = curve.filter((point) => point.share < 1);
  const last = known.at(-1);
  const end = (last ? nines(last.share) : 0) + 0.5;
  return [
    curve.map((point) => (point.share < 1 ? nines(point.share) : end)),
    curve.map((point) => point.latency_ms),
    curve.map((point) => point.service_ms),
  ];
}

/** Shares that are worth a tick. */
export const TICKS: readonly Share[] = [0, 0.5, 0.9, 0.99, 0.999, 0.9999];
