import assert from "node:assert/strict";
import { test } from "node:test";

import type { Balance, Route } from "../src/format.ts";
import { byThreads, inside, queue, VALUES } from "../src/lib/routes.ts";
import { sorted } from "../src/lib/sort.ts";

const none: Balance = {
  queue: 0, receive: 0, gvl_wait: 0, gc: 0, sql: 0, http: 0, lock: 0, sleep: 0, other_io: 0, cpu: 0, cpu_wait: 0, respond: 0, unaccounted: 0,
};

function route(name: string, thread_share: number | null, sql: number): Route {
  const latency_ms = { p50: 1, p90: 1, p95: null, p99: null, max: 2 };
  const rest = { errors: 0, unanswered: 0, checks_failed: 0, unseen: 0, time_share: 0, rps: 1, thread_ms: null };
  return { route: name, requests: 1, latency_ms, balance_ms: { ...none, queue: 300, sql }, thread_share, ...rest };
}

test("the route that holds the threads comes first, one that nobody saw last", () => {
  const rows = [route("unseen", null, 0), route("GET /", 0.1, 30), route("GET /slow", 0.9, 2)];
  assert.deepEqual(byThreads(rows).map((row) => row.route), ["GET /slow", "GET /", "unseen"]);
  assert.deepEqual(sorted(rows, VALUES.sql, true).map((row) => row.route), ["GET /", "GET /slow", "unseen"]);
});

test("the queue is one for the server, and in no route's bar", () => {
  assert.deepEqual(queue({ balance_ms: { ...none, queue: 300, receive: 20, cpu: 100 } }), { ms: 300, share: 0.75, rest_ms: 100 });
  assert.equal(queue({ balance_ms: null }), null);
  assert.equal(inside({ ...none, queue: 300, cpu: 1 }).queue, 0);
});
