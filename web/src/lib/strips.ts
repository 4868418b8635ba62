// The window second by second, as strips that are drawn one below the other.
import type { Second } from "../format.ts";

export interface Line {
  label: string;
  /** One value a second; null where there is none. */
  values: (number | null)[];
}

export interface Strip {
  title: string;
  unit: "" | "/s" | "ms" | "cores";
  /** Powers of ten upright, for values that differ by more than a picture can show. */
  log?: boolean;
  lines: Line[];
}

export interface Mark {
  at_s: number;
  what: string;
}

/** Strips that have something to show. */
export function strips(seconds: Second[]): Strip[] {
  const line = (label: string, value: (second: Second) => number | null): Line => ({
    label,
    values: seconds.map(value),
  });
  const all: Strip[] = [
    { title: "Requests answered", unit: "/s", lines: [line("answered", (second) => second.answered)] },
    {
      title: "Latency",
      unit: "ms",
      log: true,
      lines: [
        line("p50", (second) => second.latency_ms.p50),
        line("p95", (second) => second.latency_ms.p95),
        line("max", (second) => second.latency_ms.max),
      ],
    },
    {
      title: "Failed",
      unit: "/s",
      lines: [
        line("errors", (second) => second.errors),
        line("failed checks", (second) => second.checks_failed),
      ],
    },
  ];
  return all.map(withoutEmptyLines).filter((strip) => strip.lines.length > 0);
}

/** A line of zeros or unknowns says nothing; its absence is said by the strip's. */
function withoutEmptyLines(strip: Strip): Strip {
  const lines = strip.lines.filter((line) => line.values.some((value) => value != null && value !== 0));
  return { ...strip, lines };
}

/** Seconds in which something went wrong. */
export function marks(seconds: Second[]): Mark[] {
  return seconds
    .filter((second) => second.errors + second.checks_failed > 0)
    .map((second) => ({ at_s: second.at_s, what: "failed requests" }));
}
