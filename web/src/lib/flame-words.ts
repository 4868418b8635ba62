// What a flame graph says in words: amounts in the profile's unit, places, names of states.
import type { Flame, FlameFrame, State } from "../format.ts";
import type { Whose } from "./flame.ts";
import { t } from "../words.ts";
import { bytes, counted, duration, share } from "./numbers.ts";

export function stateName(state: State): string {
  const names: Record<State, string> = {
    running: t("running"),
    gvl_wait: t("waiting for the GVL"),
    gc: t("garbage collection"),
    sql: "SQL",
    http: "HTTP",
    lock: t("lock"),
    pool: t("connection pool"),
    sleep: t("sleep"),
    other_io: t("other I/O"),
  };
  return names[state];
}

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
  if (unit === "us") return duration(weight / 1000);
  return unit === "objects" ? counted(weight, "object") : counted(weight, "sample");
}

/** `12.4%`: finer than elsewhere, since small frames are compared. */
export function fine(part: number): string {
  if (!Number.isFinite(part)) return share(null);
  const percent = part * 100;
  return Math.abs(percent) >= 99.95 || percent === 0 ? `${percent.toFixed(0)}%` : `${percent.toFixed(1)}%`;
}

/** `+3.1 points`. */
export function points(change: number): string {
  return t("{change} points", { change: `${change >= 0 ? "+" : "−"}${Math.abs(change * 100).toFixed(1)}` });
}

/** `lib/resolver/spec.rb:8`; a method without a file is one in C, or its profile tells no files. */
export function placeOf(frame: FlameFrame): string {
  const [name, file, line] = frame;
  if (file === "") return name.startsWith("(") ? "" : t("no Ruby file");
  const short = file.split("/").slice(-3).join("/");
  return line > 0 ? `${short}:${line}` : short;
}

/** A frame matches by its method or its file, whatever the case. */
export function matcher(text: string): (frame: FlameFrame) => boolean {
  const wanted = text.trim().toLowerCase();
  return (frame) => wanted !== "" && (frame[0].toLowerCase().includes(wanted) || frame[1].toLowerCase().includes(wanted));
}

/** What the frame that stands for hidden ones is called. */
export const GEMS = "(gems)";

const AGENT = "HakaruAgent::";

/** Whether a method is the app's own: neither a library's, nor in C, nor the agent's. */
export function isApp(flame: Flame, frame: FlameFrame): boolean {
  return flame.origins[frame[3]] === "app" && !frame[0].startsWith(AGENT);
}

/** Whose a method is. What the agent adds is not the app's. */
export function whose(flame: Flame, frame: FlameFrame): Whose {
  if (isApp(flame, frame)) return "app";
  return flame.origins[frame[3]] === "C" && !frame[0].startsWith(AGENT) ? "C" : "library";
}

/** A template's file by its ending. */
const TEMPLATE = /\.(erb|haml|slim|jbuilder|builder|ruby|rhtml|liquid|md|markdown)$/;
/** How template engines name the methods that they make: of Rails, of Tilt, and without a name. */
const MADE = /_{1,2}\d+_\d+$|__tilt_\w+$|<top \(required\)>|singleton class|#<Class:/;

/** Classes and modules without a name, whose addresses differ from run to run. */
const ANONYMOUS = /#<(Class|Module):0x[0-9a-f]+>/g;

/** The name that people read: methods made of a template are called by its file, and nobody is shown an address. */
export function readable(name: string, file: string): string {
  if (!TEMPLATE.test(file) || !MADE.test(name)) return name.replace(ANONYMOUS, (_, kind: string) => `(${kind.toLowerCase()})`);
  const parts = file.split("/");
  const views = parts.lastIndexOf("views");
  const begin = views < 0 ? parts.length - 1 : parts[views - 1] === "app" ? views - 1 : views;
  const block = /^(?:block (?:\(\d+ levels\) )?in |rescue in |ensure in )/.exec(name)?.[0] ?? "";
  return block + parts.slice(begin).join("/");
}

/** The same flame graph with names that people read. */
export function named(flame: Flame): Flame {
  return { ...flame, frames: flame.frames.map(([name, ...rest]) => [readable(name, rest[0]), ...rest]) };
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
