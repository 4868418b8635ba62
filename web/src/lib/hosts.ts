// Several hosts in the same time, as columns of charts and parts of bars.
import type { Collect, Host, HostBalance, Share } from "../format.ts";

export interface LayerPart {
  text: string;
  ms: number;
  share: Share;
  /** One of the page's colours with patterns. */
  look: string;
}

const LOOKS: Record<HostBalance["layers"][number]["kind"], string> = {
  outside: "term-queue kind-turn",
  proxy: "term-other_io",
  app: "term-cpu",
  between: "term-http kind-others",
  database: "term-sql kind-others",
};

/** The parts of the mean request, in its way. */
export function parts(balance: HostBalance): LayerPart[] {
  return balance.layers.map((layer) => ({
    text: layer.text,
    ms: layer.mean_s * 1000,
    share: balance.mean_s > 0 ? layer.mean_s / balance.mean_s : 0,
    look: LOOKS[layer.kind] ?? "term-unaccounted",
  }));
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
