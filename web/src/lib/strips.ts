// The window second by second, as strips that are drawn one below the other.
import type { Process, Role, Second } from "../format.ts";

export interface Line {
  label: string;
  /** One value a second; null where there is none. */
  values: (number | null)[];
}

export interface Strip {
  title: string;
  unit: "" | "/s" | "ms" | "cores" | "%";
  /** Powers of ten upright, for values that differ by more than a picture can show. */
  log?: boolean;
  lines: Line[];
}

export interface Mark {
  at_s: number;
  what: string;
}

/** Strips that have something to show. */
export function strips(seconds: Second[], processes: Process[]): Strip[] {
  const line = (label: string, value: (second: Second) => number | null): Line => ({
    label,
    values: seconds.map(value),
  });
  const roles = new Map(processes.map((process) => [process.pid, process.role]));
  const cores = (role: Role) => (second: Second) => {
    const used = second.processes.filter((process) => roles.get(process.pid) === role);
    return used.length > 0 ? used.reduce((sum, process) => sum + process.cpu_cores, 0) : null;
  };
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
    {
      title: "Cores in use",
      unit: "cores",
      lines: [
        line("whole host", (second) => second.cpu_busy_cores),
        line("app", cores("app")),
        line("database", cores("database")),
        line("generator", cores("generator")),
      ],
    },
    {
      title: "Threads",
      unit: "",
      lines: [
        line("busy", (second) => second.threads_busy),
        line("requests waiting for one", (second) => second.backlog),
      ],
    },
    {
      title: "Garbage collection, % of the time of the process that collects most",
      unit: "%",
      lines: [line("collecting", mostGarbage)],
    },
  ];
  return all.map(withoutEmptyLines).filter((strip) => strip.lines.length > 0);
}

function mostGarbage(second: Second): number | null {
  const shares = second.processes.flatMap((process) => (process.gc_share === null ? [] : [process.gc_share]));
  return shares.length > 0 ? 100 * Math.max(...shares) : null;
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
