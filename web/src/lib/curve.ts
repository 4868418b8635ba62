// The percentile curve: shares on an axis that gives each further nine the same room.
import { percentile } from "./numbers.ts";
import type { ComparePoint, CurvePoint, Share } from "../format.ts";

/** 0 for 0 %, 1 for 90 %, 2 for 99 %, 3 for 99.9 %. */
export function nines(share: Share): number {
  return -Math.log10(1 - share);
}

/** Places on the axis. The greatest value stands half a nine behind the last percentile. */
function places(curve: { share: Share }[]): number[] {
  const last = curve.filter((point) => point.share < 1).at(-1);
  const end = (last ? nines(last.share) : 0) + 0.5;
  return curve.map((point) => (point.share < 1 ? nines(point.share) : end));
}

/** Columns for the chart of a run. */
export function columns(curve: CurvePoint[]): [number[], number[], (number | null)[]] {
  return [places(curve), curve.map((point) => point.latency_ms), curve.map((point) => point.service_ms)];
}

/** Columns for the chart of a comparison. */
export function bothColumns(curve: ComparePoint[]): [number[], (number | null)[], (number | null)[]] {
  return [places(curve), curve.map((point) => point.a_ms), curve.map((point) => point.b_ms)];
}

/** Ticks of an axis that ends there, and what stands below each. */
export function axis(end: number): { splits: number[]; format: (at: number) => string; say: (at: number) => string } {
  return {
    splits: [...TICKS.map(nines).filter((at) => at < end - 0.2), end],
    format: (at) => (at === end ? "max" : at === 0 ? "" : percentile(1 - 10 ** -at)),
    say: (at) => (at === end ? "max" : percentile(1 - 10 ** -at)),
  };
}

/** Shares that are worth a tick. */
export const TICKS: readonly Share[] = [0, 0.5, 0.9, 0.99, 0.999, 0.9999];
