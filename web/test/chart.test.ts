import assert from "node:assert/strict";
import { test } from "node:test";

import { legend, powers, walked, zoomed, type ChartWish } from "../src/lib/chart.ts";
import { duration, tickOfTime, second, tick } from "../src/lib/numbers.ts";

const wish: ChartWish = {
  height: 100,
  lines: [{ label: "p50" }],
  log: true,
  x: { format: second },
  y: { format: tickOfTime, say: duration },
};

test("the legend says the value at a place, or between which values a line lies", () => {
  assert.equal(legend(wish, [12.5, null, 40], 0), "12.5 ms");
  assert.equal(legend(wish, [12.5, null, 40], 1), "–");
  assert.equal(legend(wish, [40, null, 12.5], null), "12.5 ms to 40.0 ms");
  assert.equal(legend(wish, [40, 40], null), "40.0 ms");
  assert.equal(legend(wish, [null], null), "–");
});

test("zooming keeps the place where it is and stays within what there is", () => {
  assert.deepEqual(zoomed([0, 20], null, 10, 0.5), [5, 15]);
  assert.deepEqual(zoomed([0, 20], null, 0, 0.5), [0, 10]);
  assert.deepEqual(zoomed([0, 20], [10, 20], 20, 0.5), [15, 20]);
  assert.equal(zoomed([0, 20], [5, 15], 10, 2), null);
  assert.deepEqual(zoomed([0, 20], [15, 25], 20, 1), [10, 20]);
});

test("keys walk along a chart", () => {
  assert.deepEqual(["ArrowRight", "ArrowLeft", "Home", "End", "a"].map((key) => walked(key, 3, 30)), [4, 2, 0, 29, null]);
  assert.deepEqual(["PageUp", "PageDown"].map((key) => walked(key, 3, 30)), [6, 0]);
  assert.deepEqual(["ArrowRight", "ArrowLeft"].map((key) => walked(key, null, 30)), [0, 29]);
  assert.equal(walked("ArrowRight", 29, 30), 29);
});

test("ticks have as many decimals as tell them apart", () => {
  assert.deepEqual([0, 0.005, 0.01].map((value) => tick(value, 0.005)), ["0.000", "0.005", "0.010"]);
  assert.deepEqual([tick(200, 100), tick(1.5, 0.5), tick(12_000, 2000), tick(0.1, 0.1)], ["200", "1.5", "12.0 k", "0.1"]);
});

test("a logarithmic axis has a line at each power of ten, or at more where there is but one", () => {
  assert.deepEqual(powers([1, 2, 5, 10, 20]), [1, null, null, 10, null]);
  assert.deepEqual(powers([5, 6, 10, 20]), [5, 6, 10, 20]);
});
