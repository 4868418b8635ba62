import assert from "node:assert/strict";
import { test } from "node:test";

import { busy, bySecond, parts } from "../src/lib/hosts.ts";

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
  assert.deepEqual(found.map((part) => part.text), ["proxy", "app"]);
  assert.ok(Math.abs(found.reduce((sum, part) => sum + part.share, 0) - 1) < 1e-9);
});
