// What a flame graph says in words: amounts in the profile's unit, places, names of states.
import type { Flame, FlameFrame, State } from "../format.ts";
import { bytes, count, duration, share } from "./numbers.ts";

export const STATE_NAMES: Record<State, string> = {
  running: "running",
  gvl_wait: "waiting for the GVL",
  gc: "garbage collection",
  sql: "SQL",
  http: "HTTP",
  lock: "lock",
  pool: "pool",
  sleep: "sleep",
  other_io: "other I/O",
};

/** The terms of the balance whose colours the states have. */
export const STATE_TERMS: Record<State, string> = {
  running: "cpu",
  gvl_wait: "gvl_wait",
  gc: "gc",
  sql: "sql",
  http: "http",
  lock: "lock",
  pool: "pool",
  sleep: "sleep",
  other_io: "other_io",
};

export function amount(unit: Flame["unit"], measure: "weight" | "bytes", weight: number): string {
  if (measure === "bytes") return bytes(Math.round(weight));
  return unit === "us" ? duration(weight / 1000) : `${count(weight)} ${unit}`;
}

/** `12.4%`: finer than elsewhere, since small frames are compared. */
export function fine(part: number): string {
  if (!Number.isFinite(part)) return share(null);
  const percent = part * 100;
  return Math.abs(percent) >= 99.95 || percent === 0 ? `${percent.toFixed(0)}%` : `${percent.toFixed(1)}%`;
}

/** `+3.1 points`. */
export function points(change: number): string {
  return `${change >= 0 ? "+" : "−"}${Math.abs(change * 100).toFixed(1)} points`;
}

/** `lib/resolver/spec.rb:8`; a method without a file is one in C, or its profile tells no files. */
export function placeOf(frame: FlameFrame): string {
  const [name, file, line] = frame;
  if (file === "") return name.startsWith("(") ? "" : "no Ruby file";
  const short = file.split("/").slice(-3).join("/");
  return line > 0 ? `${short}:${line}` : short;
}

/** A frame matches by its method or its file, whatever the case. */
export function matcher(text: string): (frame: FlameFrame) => boolean {
  const wanted = text.trim().toLowerCase();
  return (frame) => wanted !== "" && (frame[0].toLowerCase().includes(wanted) || frame[1].toLowerCase().includes(wanted));
}

/** The variables of the colours of gems, in the order in which they are given away; further gems share one. */
const GEM_COLOURS = ["sql", "sleep", "other_io", "lock", "http", "queue", "cpu_wait", "pool", "running"];
const ORIGIN_COLOURS: Record<string, string> = { app: "gvl_wait", C: "respond", ruby: "gc" };

export interface OriginWords {
  name: string;
  /** As in `--state-sql`. */
  colour: string;
}

/** By number of the origin. Gems with the most methods get a colour of their own. */
export function origins(flame: Flame): OriginWords[] {
  const methods = flame.origins.map((_, origin) => flame.frames.filter((frame) => frame[3] === origin).length);
  const gems = flame.origins.map((_, origin) => origin).filter((origin) => !ORIGIN_COLOURS[flame.origins[origin] ?? ""]);
  gems.sort((a, b) => (methods[b] ?? 0) - (methods[a] ?? 0));
  return flame.origins.map((name, origin) => ({
    name,
    colour: ORIGIN_COLOURS[name] ?? GEM_COLOURS[gems.indexOf(origin)] ?? "unaccounted",
  }));
}
