// Which findings are things to fix, and which are about trust in the numbers.
import type { Confidence, Finding, Safety } from "../format.ts";

/** What to fix, in the order in which it is to be read. */
export function fixes(findings: Finding[]): Finding[] {
  return findings.filter((finding) => finding.number !== null);
}

/** What must be known before any number is read. */
export function doubts(findings: Finding[]): Finding[] {
  return findings.filter((finding) => finding.number === null && finding.confidence !== "low");
}

/** What may colour the numbers. */
export function hints(findings: Finding[]): Finding[] {
  return findings.filter((finding) => finding.number === null && finding.confidence === "low");
}

export const SURE: Record<Confidence, string> = {
  low: "a hint",
  medium: "likely",
  high: "shown by the evidence",
};

export const SAFE: Record<Safety, string> = {
  safe: "safe, can be taken back",
  careful: "careful: changes resources or timing",
  code: "needs a change of code",
  none: "nothing to apply",
};
