// From a finding to the rows it speaks of: its route, its statements, its methods in the flame graph.
import type { FlameFrame, Run, Finding } from "../format.ts";
import { focusOf, write } from "./address.ts";
import { cut } from "./numbers.ts";
import { t } from "../words.ts";

export interface Link {
  kind: "route" | "statement" | "method";
  /** A route, a statement's beginning, a source line. */
  name: string;
  href: string;
}

const STATEMENTS_MAX = 3;
const METHODS_MAX = 2;
const STATEMENT_CHARACTERS = 60;

export function routeId(index: number): string {
  return `route-${index + 1}`;
}

export function statementId(index: number): string {
  return `sql-${index + 1}`;
}

/** A statement, or words for an empty one. */
export const statementName = (digest: string) => digest || t("an empty statement, by which the driver checks its connection");

/** What a finding speaks of, as far as the page shows it. */
export function linksOf(finding: Finding, run: Run): Link[] {
  return [...routeLinks(finding, run), ...statementLinks(finding, run), ...methodLinks(finding, run)];
}

function routeLinks(finding: Finding, run: Run): Link[] {
  const index = run.routes.findIndex((route) => route.route === finding.route);
  return index < 0 ? [] : [{ kind: "route", name: finding.route ?? "", href: `#${routeId(index)}` }];
}

function statementLinks(finding: Finding, run: Run): Link[] {
  const found = run.sql.flatMap((row, index) => (finding.evidence.some((line) => isOf(line, row.digest)) ? [{ row, index }] : []));
  return found
    .slice(0, STATEMENTS_MAX)
    .map(({ row, index }) => ({ kind: "statement", name: cut(row.digest, STATEMENT_CHARACTERS), href: `#${statementId(index)}` }));
}

/** Whether a line of evidence ends with a statement, or with the beginning of one. */
function isOf(line: string, digest: string): boolean {
  if (line === digest || line.endsWith(`: ${digest}`)) return true;
  if (!line.endsWith("…")) return false;
  const beginning = line.slice(line.search(VERB), -1);
  return beginning.length > CUT_CHARACTERS_MIN && digest.startsWith(beginning);
}

/** Where a statement begins in a line of evidence. */
const VERB = /\b(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/;
/** A shorter beginning is that of many statements. */
const CUT_CHARACTERS_MIN = 20;
/** A source line, as in `app.rb:120`. */
const PLACE = /([^\s:]+\.\w+):(\d+)/g;

function methodLinks(finding: Finding, run: Run): Link[] {
  const flame = run.profile?.flame;
  if (!flame) return [];
  const own = flame.graphs.find((graph) => graph.name === finding.route);
  const places = [finding.title, ...finding.evidence].flatMap((text) => [...text.matchAll(PLACE)].slice(0, 1));
  const links = places.flatMap(([place, file = "", line]): Link[] => {
    const frame = methodAt(flame.frames, file, Number(line));
    if (!frame) return [];
    const isOnly = flame.frames.filter(([name]) => name === frame[0]).length === 1;
    const route = own?.frame.includes(flame.frames.indexOf(frame)) ? own.name : undefined;
    return [{ kind: "method", name: place, href: write("stacks", { route, focus: isOnly ? frame[0] : focusOf(frame) }) }];
  });
  return links.filter((link, index) => links.findIndex((one) => one.href === link.href) === index).slice(0, METHODS_MAX);
}

/** The method of a file that begins nearest above a line. */
function methodAt(frames: FlameFrame[], file: string, line: number): FlameFrame | undefined {
  const isIn = ([, path, begin]: FlameFrame) => (path === file || path.endsWith(`/${file}`)) && begin > 0 && begin <= line;
  return frames.filter(isIn).sort((a, b) => b[2] - a[2])[0];
}
