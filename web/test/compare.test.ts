import assert from "node:assert/strict";
import { test } from "node:test";

import { at, figure, interval, span } from "../src/lib/compare.ts";
import { bothColumns } from "../src/lib/curve.ts";

const row = { metric: "p50", a: 40.1, b: 18.3, ratio: 0.46, low: 0.44, high: 0.48, noise: 0.02, verdict: "faster" } as const;

test("intervals lie on a bar from half to double", () => {
  assert.equal(at(1), 50);
  assert.equal(at(2), 100);
  assert.equal(at(0.1), 0);
  assert.deepEqual(span({ ...row, low: 1, high: 2 }), { left: 50, width: 50 });
  assert.equal(span({ ...row, low: null }), null);
});

test("figures carry their unit, and what is not known is a dash", () => {
  assert.equal(figure(row, 40.1), "40.1 ms");
  assert.equal(figure({ ...row, metric: "rps" }, 198), "198/s");
  assert.equal(interval(row), "0.44–0.48");
  assert.equal(interval({ ...row, high: null }), "–");
});

test("both curves share their places", () => {
  const [x, a, b] = bothColumns([
    { share: 0.9, a_ms: 9, b_ms: null },
    { share: 1, a_ms: 20, b_ms: 10 },
  ]);
  assert.deepEqual(x, [1, 1.5]);
  assert.deepEqual([a, b], [[9, 20], [null, 10]]);
});
