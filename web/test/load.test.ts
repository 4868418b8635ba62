import assert from "node:assert/strict";
import { test } from "node:test";

import { percentiles, wholeSeconds } from "../src/lib/load.ts";

test("percentiles stand in order, and what is not known stays so", () => {
  const times = { count: 3, mean: 2, p50: 2, p90: 3, p95: null, p99: null, "p99.9": null, max: 4 };
  const names = percentiles(times).map(([name]) => name);
  assert.deepEqual(names, ["p50", "p90", "p95", "p99", "p99.9", "max"]);
  assert.deepEqual(percentiles(times).at(0), ["p50", 2]);
  assert.deepEqual(percentiles(times).at(3), ["p99", null]);
});

test("a last stretch that the load did not fill is left out", () => {
  const series = (...starts: number[]) => starts.map((at_s) => ({ at_s, rps: 1, failed: 0, p50_ms: 1, p90_ms: 1, p99_ms: 1, generator_cores: 0 }));
  const left = (seconds: number, ...starts: number[]) => wholeSeconds({ seconds, series: series(...starts) }).map((second) => second.at_s);
  assert.deepEqual(left(8, 6, 7, 8, 9), [6, 7]);
  assert.deepEqual(left(8.0, -1, 0, 7), [-1, 0, 7]);
  assert.deepEqual(left(7.995, 6, 7), [6, 7]);
  assert.deepEqual(left(20, 0, 5, 10, 15, 20), [0, 5, 10, 15]);
  assert.deepEqual(left(0.4, 0), [0]);
});
