import assert from "node:assert/strict";
import { test } from "node:test";

import { count, counted, duration, percentile, plain, tick, tickOfTime, share, cut } from "../src/lib/numbers.ts";

test("numbers look as on the terminal page", () => {
  const durations: [number | null, string][] = [
    [0, "0 ms"],
    [0.042, "42.0 µs"],
    [0.42, "0.42 ms"],
    [52.13, "52.1 ms"],
    [999.9, "1.00 s"],
    [1240, "1.24 s"],
    [20 * 60_000, "20.0 min"],
    [-3.2, "-3.20 ms"],
    [null, "–"],
  ];
  for (const [ms, expected] of durations) {
    assert.equal(duration(ms), expected);
  }
  assert.deepEqual([0, 0.0001, 0.004, 0.714, -0.02].map(share), ["0%", "<0.1%", "0.4%", "71%", "-2%"]);
  assert.deepEqual([0.524, 421.4, 1240, 12_340, null].map(plain), ["0.52", "421", "1240", "12.3 k", "–"]);
  assert.equal(count(8412), "8,412");
  assert.equal(counted(1, "failed check"), "1 failed check");
  assert.equal(counted(2400, "error"), "2,400 errors");
});

test("percentiles and ticks have short names", () => {
  assert.deepEqual([0.5, 0.99, 0.999, 0.9999, 1].map(percentile), ["p50", "p99", "p99.9", "p99.99", "max"]);
  assert.deepEqual([0.1, 1, 5, 100, 10_000].map(tickOfTime), ["100 µs", "1 ms", "5 ms", "100 ms", "10 s"]);
  assert.deepEqual([0.025, 0.05].map((value) => tick(value, 0.025)), ["0.025", "0.050"]);
  assert.deepEqual([tick(20, 20), tick(0.3, 0.1), tick(0.3, 0)], ["20", "0.3", "0.30"]);
});

test("what is too long is cut with an ellipsis", () => {
  assert.equal(cut("SELECT 1", 8), "SELECT 1");
  assert.equal(cut("SELECT 12", 8), "SELECT…");
});
