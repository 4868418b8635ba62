// A journal's runs: which can be compared, and which are looked for.
import { t } from "../words.ts";
import { share } from "./numbers.ts";
import type { LoggedRun, Trial } from "../format.ts";

export interface Series {
  /** The oldest first; each is compared with the one before it. */
  runs: LoggedRun[];
  /** Of the newest. */
  last: number;
}

/** Runs of the same load, which alone can lie on a curve; the series of the newest run first. */
export function series(runs: LoggedRun[]): Series[] {
  const known = new Map<number, Series>();
  const all = new Set<Series>();
  for (const run of [...runs].sort((a, b) => a.number - b.number)) {
    const own = (run.against == null ? undefined : known.get(run.against)) ?? { runs: [], last: run.number };
    own.runs.push(run);
    own.last = run.number;
    known.set(run.number, own);
    all.add(own);
  }
  return [...all].sort((a, b) => b.last - a.last);
}

/** What a run gave against the last one of its load. */
export function change(run: LoggedRun): string {
  if (run.change_share === null) return "";
  const by = `${run.change_share < 0 ? "−" : "+"}${share(Math.abs(run.change_share))}`;
  if (run.noise_share === null) return t("{change} (noise unknown: run again unchanged)", { change: by });
  const noise = share(run.noise_share);
  return Math.abs(run.change_share) <= run.noise_share
    ? t("{change}, within the noise of ±{noise}", { change: by, noise })
    : t("{change}, beyond the noise of ±{noise}", { change: by, noise });
}

/** What changed before a run, and what was noted of it. */
export function remarks(run: LoggedRun): string[] {
  const part = run.part_of ? [t("a step of {command}", { command: run.part_of })] : [];
  const cut = run.complete ? [] : [t("cut off before its end")];
  return [...run.changes, ...part, ...cut, ...run.notes.map((note) => t("note: {note}", { note }))];
}

/** What was tried after a run: a finding's remedy, or a comparison. */
export function what(trial: Trial): string {
  return trial.finding === null ? trial.remedy : t("finding {finding}: {remedy}", { finding: trial.finding, remedy: trial.remedy });
}

/** Whether a run holds all words of a search, in any of its texts. */
export function holds(run: LoggedRun, search: string): boolean {
  const words = search.toLowerCase().split(/\s+/).filter((word) => word);
  const tried = run.trials.flatMap((trial) => [what(trial), trial.verdict]);
  const text = [String(run.number), run.commit ?? "", run.dirty ?? "", ...remarks(run), ...tried].join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}
