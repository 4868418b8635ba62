import assert from "node:assert/strict";
import { test } from "node:test";

import type { Second } from "../src/format.ts";
import { marks, strips } from "../src/lib/strips.ts";

function second(at_s: number, known: Partial<Second>): Second {
  const latency_ms = { p50: 1, p90: 2, p95: 3, p99: null, max: 9 };
  return { at_s, answered: 10, errors: 0, checks_failed: 0, latency_ms, ...known };
}

test("what never happened has no strip", () => {
  const shown = strips([second(0, {}), second(1, { answered: 0 })]);
  assert.deepEqual(shown.map((strip) => strip.title), ["Requests answered", "Latency"]);
  assert.deepEqual(shown[0]?.lines[0]?.values, [10, 0]);
  assert.deepEqual(strips([]), []);
});

test("seconds with failures are marked", () => {
  const seconds = [second(0, {}), second(1, { errors: 2 }), second(2, { checks_failed: 1 })];
  assert.deepEqual(marks(seconds).map((mark) => mark.at_s), [1, 2]);
  assert.deepEqual(strips(seconds).at(-1)?.lines.map((line) => line.label), ["errors", "failed checks"]);
});
