// Every number on the page is made here, by the same rules as on the terminal page
// (crates/findings/src/numbers.rs), so that a value never looks different in two places.
import { t } from "../words.ts";

export const UNKNOWN = "–";

/** `8,412`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** `1 error`, `2,400 errors`, and `2 matches` for a noun whose plural is given. */
export function counted(value: number, noun: string, plural = `${noun}s`): string {
  return t(`{count} ${value === 1 ? noun : plural}`, { count: count(value) });
}

/** `0.42 ms`, `52.1 ms`, `412 ms`, `1.24 s`, `20.0 min`, `3.10 h`. */
export function duration(ms: number | null | undefined): string {
  if (ms == null || !Number.isFinite(ms)) {
    return UNKNOWN;
  }
  const size = Math.abs(ms);
  if (size < 0.0005) {
    return "0 ms";
  }
  if (size < 0.1) {
    return `${significant(ms * 1000)} µs`;
  }
  if (size < 999.5) {
    return `${significant(ms)} ms`;
  }
  if (size < 120_000) {
    return `${significant(ms / 1000)} s`;
  }
  if (size < 7_200_000) {
    return `${significant(ms / 60_000)} min`;
  }
  return `${significant(ms / 3_600_000)} h`;
}

/** `71%`, `0.4%`, `<0.1%`. */
export function share(part: number | null | undefined): string {
  if (part == null || !Number.isFinite(part)) {
    return UNKNOWN;
  }
  const percent = part * 100;
  const size = Math.abs(percent);
  if (size === 0) {
    return "0%";
  }
  if (size < 0.05) {
    return "<0.1%";
  }
  return `${percent.toFixed(size < 0.95 ? 1 : 0)}%`;
}

/** `421`, `0.52`, `12.3 k`. */
export function plain(value: number | null | undefined): string {
  if (value == null || !Number.isFinite(value)) {
    return UNKNOWN;
  }
  let scaled = value;
  for (const unit of ["", " k", " M", " G"]) {
    if (Math.abs(scaled) < (unit === "" ? 9999.5 : 999.5)) {
      return significant(scaled) + unit;
    }
    scaled /= 1000;
  }
  return "huge";
}

/** Three significant digits, never an exponent; two decimals at most. */
function significant(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

/** A tick with as many decimals as its neighbours, `step` apart, need. */
export function tick(value: number, step: number): string {
  if (Math.abs(value) >= 10_000) return plain(value);
  if (step <= 0) return value.toFixed(2);
  const isWhole = (decimals: number) => Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) < 1e-6;
  return value.toFixed([0, 1, 2, 3, 4, 5].find(isWhole) ?? 6);
}

/** `3 s` for a tick at a whole second, nothing for those between. */
export function second(at: number): string {
  return Number.isInteger(at) ? `${at} s` : "";
}

/** A tick of a logarithmic axis: `10 ms`, `500 µs`. */
export function tickOfTime(ms: number): string {
  const [value, unit] = ms < 1 ? [ms * 1000, "µs"] : ms < 1000 ? [ms, "ms"] : [ms / 1000, "s"];
  return `${Number(value.toPrecision(3))} ${unit}`;
}

/** `p99.9` for 0.999. */
export function percentile(share: number): string {
  return share === 1 ? "max" : `p${Number((share * 100).toFixed(4))}`;
}

/** `2026-11-21 14:02`, in the reader's own time zone. */
export function moment(unixMs: number): string {
  const at = new Date(unixMs);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Bytes, in units of 1024. */
export function bytes(value: number | null | undefined): string {
  if (value == null) return UNKNOWN;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let [scaled, unit] = [value, 0];
  while (scaled >= 999.5 && unit < units.length - 1) {
    scaled /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${value} B` : `${plain(scaled)} ${units[unit]}`;
}

/** The beginning of a text that is too long, with an ellipsis. */
export function cut(text: string, characters: number): string {
  return text.length > characters ? `${text.slice(0, characters - 1).trimEnd()}…` : text;
}
