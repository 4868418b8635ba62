import assert from "node:assert/strict";
import { test } from "node:test";

import { telling, used } from "../src/lib/balance.ts";
import { busy, bySecond, parts, routeBar, splitParts } from "../src/lib/hosts.ts";

const host = (name: string, requests_by_second: number[] | null) => ({ name, roles: [], error: null, requests_by_second });

test("hosts with and without stamps share one axis of seconds", () => {
  const hosts = [host("web", [3, 4]), host("db", null), host("app", [0, 1, 2])];
  assert.deepEqual(bySecond({ hosts }), { names: ["web", "app"], data: [[0, 1, 2], [3, 4, 0], [0, 1, 2]] });
  assert.deepEqual(bySecond({ hosts: [] }), { names: [], data: [[]] });
});

test("a container is busy by its own limit", () => {
  assert.equal(busy({ ...host("a", null), cores: 4 }, 2), 0.5);
  assert.equal(busy({ ...host("a", null), cores: 4, core_limit: 2 }, 2), 1);
  assert.equal(busy(host("a", null), 2), null);
});

test("parts keep the order of the way and add up", () => {
  const layer = (kind: "proxy" | "app", mean_s: number) => ({ kind, text: kind, mean_s });
  const found = parts({ requests: 1, mean_s: 0.01, layers: [layer("proxy", 0.004), layer("app", 0.006)] });
  assert.deepEqual(found.map((part) => part.name), ["proxy", "app"]);
  assert.ok(Math.abs(found.reduce((sum, part) => sum + part.share, 0) - 1) < 1e-9);
});

test("the app's part is cut into the terms of its agents", () => {
  const terms_s = { queue: 0.001, gvl_wait: 0.002, sql: 0.001, running: 0.004, unaccounted: 0 };
  const layers = [
    { kind: "proxy" as const, text: "web server on a", mean_s: 0.001 },
    { kind: "app" as const, text: "app on a", mean_s: 0.008, terms_s },
    { kind: "app" as const, text: "app on b", mean_s: 0.001, terms_s: null },
  ];
  const split = splitParts({ requests: 1, mean_s: 0.01, layers });
  assert.deepEqual(split.map((part) => part.name), ["app on a"]);
  const bar = split[0]?.bar;
  assert.ok(bar && Math.abs(bar.mean - 8) < 1e-9);
  assert.deepEqual(telling(bar).map((part) => part.name), ["running", "gvl wait", "queue", "sql"]);
});

test("a route's bar is its mean request, with what the events missed", () => {
  const states_s = { gvl_wait: 0.03, gc: 0, sql: 0.1, http: 0, lock: 0, sleep: 0, other_io: 0, running: 0.06 };
  const bar = routeBar({ route: "GET /", requests: 10, failed: 0, time_s: 0.2, waited_s: 0.5, states_s });
  assert.ok(Math.abs(bar.mean - 20) < 1e-9);
  const found = telling(bar).map((part) => [part.name, Math.round(part.ms), Math.round(part.share * 100)]);
  assert.deepEqual(found, [["sql", 10, 50], ["running", 6, 30], ["gvl wait", 3, 15], ["unaccounted", 1, 5]]);
  assert.deepEqual(used([bar]).map((key) => key.name), ["gvl wait", "sql", "running", "unaccounted"]);
  assert.ok(used([bar]).every((key) => key.look.startsWith("term-")));
  const none = routeBar({ route: "", requests: 0, failed: 0, time_s: 0, waited_s: 0, states_s: {} });
  assert.ok(none.parts.every((part) => part.share === 0));
});
