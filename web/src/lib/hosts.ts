// Several hosts in the same time, as columns of charts and parts of bars.
import type { Collect, Host, HostBalance, HostLayer, HostTerm, HostTerms, InsideRoute, Share, Term } from "../format.ts";
import { t } from "../words.ts";
import { type Bar, inWords, type Piece, TERMS, type TermKey } from "./balance.ts";

const LOOKS: Record<HostLayer["kind"], string> = {
  outside: "term-queue kind-turn",
  proxy: "term-other_io",
  app: "term-cpu",
  between: "term-http kind-others",
  database: "term-sql kind-others",
};

/** The parts of the mean request, in its way. */
export function parts(balance: HostBalance): Piece[] {
  return balance.layers.map((layer) => ({
    name: layer.text,
    letter: "",
    ms: layer.mean_s * 1000,
    share: balance.mean_s > 0 ? layer.mean_s / balance.mean_s : 0,
    look: LOOKS[layer.kind] ?? "term-unaccounted",
  }));
}

/** The app's parts that agents have split, each cut into their terms. */
export function splitParts(balance: HostBalance): { name: string; bar: Bar }[] {
  return balance.layers.flatMap((layer) => (layer.terms_s ? [{ name: layer.text, bar: barOf(layer.terms_s) }] : []));
}

/** The mean request of a route in its handler; what the states leave of it was missed by the events. */
export function routeBar(route: InsideRoute): Bar {
  const states = Object.values(route.states_s).reduce<number>((sum, seconds) => sum + (seconds ?? 0), 0);
  const terms = { ...route.states_s, unaccounted: Math.max(route.time_s - states, 0) };
  return barOf(terms, Math.max(route.requests, 1));
}

/** A bar of the agents' terms, seconds of so many requests. */
function barOf(seconds: HostTerms, requests = 1): Bar {
  const all = TERMS.flatMap((words) => {
    const name = NAMES[words.term];
    return name ? [{ words: inOwnWords(name, inWords(words)), ms: ((seconds[name] ?? 0) * 1000) / requests }] : [];
  });
  const mean = all.reduce((sum, { ms }) => sum + ms, 0);
  return { mean, parts: all.map(({ words, ms }) => ({ ...words, ms, share: mean > 0 ? ms / mean : 0 })) };
}

/** The agents' names of the page's terms; sums have no sample of the CPU's clock, which would tell a core from the wait for one. */
const NAMES: Partial<Record<Term, HostTerm>> = {
  queue: "queue",
  gvl_wait: "gvl_wait",
  gc: "gc",
  sql: "sql",
  http: "http",
  lock: "lock",
  sleep: "sleep",
  other_io: "other_io",
  cpu: "running",
  unaccounted: "unaccounted",
};

function inOwnWords(name: HostTerm, key: TermKey): TermKey {
  return name === "running" ? { ...key, name: t("running"), meaning: t("with Ruby's lock, on a core or waiting for one") } : key;
}

/** The share of a host's cores in use. */
export function busy(host: Host, cores: number | undefined): Share | null {
  const all = host.core_limit ?? host.cores ?? 0;
  return cores === undefined || all <= 0 ? null : cores / all;
}

/** Requests by second of the hosts with stamps: their names, the seconds, and a column for each host. */
export function bySecond(collect: Pick<Collect, "hosts">): { names: string[]; data: number[][] } {
  const hosts = collect.hosts.filter((host) => (host.requests_by_second ?? []).length > 0);
  const length = Math.max(0, ...hosts.map((host) => host.requests_by_second?.length ?? 0));
  const seconds = Array.from({ length }, (_, second) => second);
  const columns = hosts.map((host) => seconds.map((second) => host.requests_by_second?.[second] ?? 0));
  return { names: hosts.map((host) => host.name), data: [seconds, ...columns] };
}
