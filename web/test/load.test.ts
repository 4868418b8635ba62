import assert from "node:assert/strict";
import { test } from "node:test";

import type { Expectation } from "../src/format.ts";
import { bars, headline, percentiles, verdict, wholeSeconds } from "../src/lib/load.ts";

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

test("bars are relative to the highest, and powers of ten stand below them", () => {
  const classes = [1, 10, 100].map((from_ms, index) => ({ from_ms, to_ms: from_ms * 10, count: [1, 4, 0][index] ?? 0 }));
  const found = bars(classes);
  assert.deepEqual(found.bars.map((bar) => [bar.height, bar.share]), [[0.25, 0.2], [1, 0.8], [0, 0]]);
  assert.deepEqual(found.ticks.map((tick) => tick.ms), [10, 100]);
  assert.deepEqual(bars([]).bars, []);
});

test("the headline names what failed and what was missed", () => {
  const latency_ms = { count: 9, mean: 2, p50: 2, p90: 3, p95: 12, p99: null, "p99.9": null, max: 4 };
  const held: Expectation = { expected: "p95 < 20ms", came: "12 ms", held: true };
  const said = (failed: number, expectations: Expectation[]) => headline({ rps: 720, requests: 100, failed, latency_ms, expectations });
  assert.deepEqual(said(0, [held]), { text: "720 requests/s, p95\u00a012.0\u00a0ms, none failed", bad: false });
  const bad = said(2, [held, { ...held, held: false }]);
  assert.deepEqual(bad, { text: "720 requests/s, p95\u00a012.0\u00a0ms, 2% failed, 1 of 2 expectations missed", bad: true });
  const few = said(0, [held, { ...held, held: false, came: null, needs_requests: 1000 }]);
  assert.deepEqual(few, { text: "720 requests/s, p95\u00a012.0\u00a0ms, none failed, 1 of 2 expectations cannot be judged", bad: false });
});

test("an expectation that too few requests carry is neither held nor missed", () => {
  const goal = { expected: "p99.9 < 20ms", came: null, held: false };
  assert.deepEqual(verdict({ ...goal, needs_requests: 1000 }), {
    chip: "? cannot be judged",
    tone: "unknown",
    why: "takes 1,000 requests; run longer (-d)",
  });
  assert.deepEqual(verdict(goal), { chip: "✕ missed", tone: "warn", why: "came nothing" });
  assert.deepEqual(verdict({ ...goal, came: "21 ms" }), { chip: "✕ missed", tone: "warn", why: "came 21 ms" });
  assert.deepEqual(verdict({ ...goal, came: "12 ms", held: true }), { chip: "✓ held", tone: "good", why: "" });
});
