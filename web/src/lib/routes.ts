// What routes hold of a server: its threads, its CPU, its database.
import type { Balance, Milliseconds, Route, Run, Share } from "../format.ts";

export type RouteKey = "route" | "requests" | "rps" | "p50" | "p95" | "max" | "threads" | "thread" | "cpu" | "sql" | "errors";

/** What a column is sorted by; what is not known comes last. */
export const VALUES: Record<RouteKey, (route: Route) => number | string> = {
  route: (route) => route.route,
  requests: (route) => route.requests,
  rps: (route) => route.rps ?? -1,
  p50: (route) => route.latency_ms.p50 ?? -1,
  p95: (route) => route.latency_ms.p95 ?? -1,
  max: (route) => route.latency_ms.max ?? -1,
  threads: (route) => route.thread_share ?? -1,
  thread: (route) => route.thread_ms ?? -1,
  cpu: (route) => route.balance_ms?.cpu ?? -1,
  sql: (route) => route.balance_ms?.sql ?? -1,
  errors: failed,
};

export function failed(route: Route): number {
  return route.errors + route.checks_failed;
}

/** Routes that hold most of the threads' time first; those that nobody saw inside the app last. */
export function byThreads(routes: Route[]): Route[] {
  return [...routes].sort((a, b) => (b.thread_share ?? -1) - (a.thread_share ?? -1));
}

export interface Queue {
  ms: Milliseconds;
  /** Of the mean from sent to answered. */
  share: Share;
  /** What is left of that mean. */
  rest_ms: Milliseconds;
}

/** The wait for a free thread: one for the whole server. */
export function queue(run: Pick<Run, "balance_ms">): Queue | null {
  const balance = run.balance_ms;
  if (!balance) return null;
  const { receive: _, ...terms } = balance;
  const mean = Object.values(terms).reduce((sum, ms) => sum + ms, 0);
  return mean > 0 ? { ms: balance.queue, share: balance.queue / mean, rest_ms: mean - balance.queue } : null;
}

/** A balance without that wait. */
export function inside(balance: Balance): Balance {
  return { ...balance, queue: 0, receive: 0 };
}
