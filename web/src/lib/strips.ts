// The window second by second, as strips that are drawn one below the other.
import type { Process, Role, Second } from "../format.ts";
import { t } from "../words.ts";
import { duration, plain } from "./numbers.ts";

export interface Line {
  label: string;
  /** One value a second; null where there is none. */
  values: (number | null)[];
}

export interface Strip {
  title: string;
  unit: "" | "/s" | "ms" | "cores" | "%" | "MiB";
  /** Powers of ten upright, for values that differ by more than a picture can show. */
  log?: boolean;
  lines: Line[];
}

/** A strip's title with its unit. */
export function heading(strip: Strip): string {
  const units: Record<Strip["unit"], string> = { "": "", "/s": "/s", ms: "", cores: "", "%": "", MiB: "MiB" };
  const unit = units[strip.unit];
  return unit ? `${strip.title} (${unit})` : strip.title;
}

/** A value with its unit: `67/s`, `121 MiB`. */
export function said(strip: Strip, value: number): string {
  if (strip.unit === "ms") return duration(value);
  const number = plain(Math.abs(value) < 1e-9 ? 0 : value);
  if (strip.unit === "cores") return t("{count} cores", { count: number });
  return strip.unit === "MiB" ? `${number} MiB` : number + strip.unit;
}

/** Something that happened in a second. */
export interface Mark {
  at_s: number;
  kind: "failed" | "workers" | "collected";
}

/** How each mark looks. */
export const SIGNS: Record<Mark["kind"], string> = { failed: "▼", workers: "■", collected: "●" };

/** The explanation of those that are there. */
export function explained(marks: Mark[]): string {
  const meanings: [Mark["kind"], string][] = [
    ["failed", t("requests failed")],
    ["workers", t("a worker came or went")],
    ["collected", t("a major garbage collection")],
  ];
  const there = meanings.filter(([kind]) => marks.some((mark) => mark.kind === kind));
  return there.map(([kind, meaning]) => `${SIGNS[kind]} ${meaning}`).join(", ");
}

/** Collections in more seconds than this share are no event; their strip shows them. */
const COLLECTED_SHARE_MAX = 0.25;

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
  const memory = (role: Role) => (second: Second) => {
    const used = second.processes.filter((process) => roles.get(process.pid) === role);
    const bytes = used.reduce((sum, process) => sum + (process.pss_bytes ?? process.rss_bytes), 0);
    return used.length > 0 ? bytes / 2 ** 20 : null;
  };
  const all: Strip[] = [
    { title: t("Requests answered"), unit: "/s", lines: [line(t("answered"), (second) => second.answered)] },
    {
      title: t("Latency"),
      unit: "ms",
      log: true,
      lines: [
        line("p50", (second) => second.latency_ms.p50),
        line("p95", (second) => second.latency_ms.p95),
        line("max", (second) => second.latency_ms.max),
      ],
    },
    {
      title: t("Failed"),
      unit: "/s",
      lines: [
        line(t("errors"), (second) => second.errors),
        line(t("failed checks"), (second) => second.checks_failed),
      ],
    },
    {
      title: t("Cores in use"),
      unit: "cores",
      lines: [
        line(t("whole host"), (second) => second.cpu_busy_cores),
        line(t("app"), cores("app")),
        line(t("database"), cores("database")),
        line(t("generator"), cores("generator")),
      ],
    },
    {
      title: t("Threads"),
      unit: "",
      lines: [
        line(t("busy"), (second) => second.threads_busy),
        line(t("requests waiting for one"), (second) => second.backlog),
      ],
    },
    { title: t("Memory"), unit: "MiB", lines: [line(t("app"), memory("app")), line(t("database"), memory("database"))] },
    {
      title: t("Garbage collection, % of the time of the process that collects most"),
      unit: "%",
      lines: [line(t("collecting"), mostGarbage)],
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

/** What happened, second by second. */
export function marks(seconds: Second[], processes: Process[]): Mark[] {
  const workers = new Set(processes.filter((process) => process.role === "app").map((process) => process.pid));
  const failed = seconds.filter((second) => second.errors + second.checks_failed > 0);
  const changed = seconds.filter((second, index) => {
    const before = seconds[index - 1];
    const watched = before !== undefined && before.processes.length > 0 && second.processes.length > 0;
    return watched && alive(before, workers) !== alive(second, workers);
  });
  const collected = seconds.filter((second) => second.processes.some((process) => (process.gc_major ?? 0) > 0));
  const rare = collected.length <= COLLECTED_SHARE_MAX * seconds.length ? collected : [];
  const of = (kind: Mark["kind"], those: Second[]) => those.map((second): Mark => ({ at_s: second.at_s, kind }));
  return [...of("failed", failed), ...of("workers", changed), ...of("collected", rare)];
}

/** The app's processes of a second. */
function alive(second: Second, workers: Set<number>): string {
  const pids = second.processes.map((process) => process.pid).filter((pid) => workers.has(pid));
  return pids.sort((a, b) => a - b).join(" ");
}
