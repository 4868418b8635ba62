// A load's times as columns of a table.
import { t } from "../words.ts";
import { counted, duration, plain, share } from "./numbers.ts";
import type { CurvePoint, Expectation, LatencyClass, Load, LoadSecond, LoadTimes, Milliseconds, Share } from "../format.ts";

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

export interface Bar extends LatencyClass {
  share: Share;
  /** Of the highest bar. */
  height: number;
}

/** Bars of a histogram, and powers of ten below them: `at` is the place, 0 to 1. */
export function bars(classes: LatencyClass[]): { bars: Bar[]; ticks: { ms: Milliseconds; at: number }[] } {
  const all = classes.reduce((sum, one) => sum + one.count, 0);
  const highest = Math.max(1, ...classes.map((one) => one.count));
  const [low, high] = [Math.log10(classes[0]?.from_ms ?? 1), Math.log10(classes.at(-1)?.to_ms ?? 10)];
  const narrow = high - low < 1.2;
  const decades = Array.from({ length: Math.ceil(high) - Math.floor(low) + 1 }, (_, index) => 10 ** (Math.floor(low) + index));
  const places = decades.flatMap((ms) => (narrow ? [ms, 2 * ms, 5 * ms] : [ms]));
  return {
    bars: classes.map((one) => ({ ...one, share: all > 0 ? one.count / all : 0, height: one.count / highest })),
    ticks: places.map((ms) => ({ ms, at: (Math.log10(ms) - low) / (high - low) })).filter(({ at }) => at > 0.02 && at < 0.98),
  };
}

/** The curve of percentiles of a load in the form of a run's. */
export function curve(load: Pick<Load, "latency_curve">): CurvePoint[] {
  const points = load.latency_curve ?? [];
  return points.map((point) => ({ share: point.share, latency_ms: point.latency_ms, service_ms: point.sent_latency_ms }));
}

export interface GoalVerdict {
  chip: string;
  tone: "good" | "warn" | "unknown";
  /** Why the expectation did not hold; empty where it did. */
  why: string;
}

/** What came of an expectation. One that too few requests carry is neither held nor missed. */
export function verdict(goal: Expectation): GoalVerdict {
  if (goal.needs_requests !== undefined) {
    const why = t("takes {requests}; run longer (-d)", { requests: counted(goal.needs_requests, "request") });
    return { chip: t("? cannot be judged"), tone: "unknown", why };
  }
  if (goal.held) return { chip: t("✓ held"), tone: "good", why: "" };
  return { chip: t("✕ missed"), tone: "warn", why: t("came {value}", { value: goal.came ?? t("nothing") }) };
}

export interface LoadHeadline {
  text: string;
  bad: boolean;
}

/** The verdict in a few words: rate, p95, and what failed. */
export function headline(load: Pick<Load, "rps" | "requests" | "failed" | "latency_ms" | "expectations">): LoadHeadline {
  const all = load.expectations.length;
  const tally = (tone: GoalVerdict["tone"]) => load.expectations.filter((goal) => verdict(goal).tone === tone).length;
  const [missed, unknown] = [tally("warn"), tally("unknown")];
  const parts = [
    t("{rate} requests/s", { rate: plain(load.rps) }),
    ...(load.latency_ms.p95 === null ? [] : [`p95\u00a0${duration(load.latency_ms.p95).replace(" ", "\u00a0")}`]),
    load.failed === 0 ? t("none failed") : t("{share} failed", { share: share(load.failed / Math.max(load.requests, 1)) }),
    ...(missed === 0 ? [] : [t("{count} of {all} expectations missed", { count: missed, all })]),
    ...(unknown === 0 ? [] : [t("{count} of {all} expectations cannot be judged", { count: unknown, all })]),
  ];
  return { text: parts.join(", "), bad: load.failed > 0 || missed > 0 };
}
