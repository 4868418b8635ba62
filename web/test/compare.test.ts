import assert from "node:assert/strict";
import { test } from "node:test";

import { figure, headline, interval, place, ratioAxis, span } from "../src/lib/compare.ts";
import { bothColumns } from "../src/lib/curve.ts";

const row = { metric: "p50", a: 40.1, b: 18.3, ratio: 0.46, low: 0.44, high: 0.48, noise: 0.02, verdict: "faster" } as const;

test("nothing lies beyond the axis of the intervals", () => {
  assert.equal(place(1, 2), 50);
  assert.equal(place(2, 2), 100);
  assert.deepEqual(span({ ...row, low: 1, high: 2 }, 2), { left: 50, width: 50 });
  assert.equal(span({ ...row, low: null }, 2), null);
  const wide = ratioAxis([{ ...row, low: 0.3, high: 0.4 }]);
  assert.equal(wide.end, 4);
  assert.deepEqual(wide.ticks, [0.25, 0.5, 1, 2, 4]);
  assert.equal(ratioAxis([{ ...row, ratio: 1, low: 0.99, high: 1.01 }]).end, 1.1);
  assert.ok(ratioAxis([{ ...row, high: 900 }]).end >= 900);
});

test("the headline is the verdict", () => {
  const rps = { ...row, metric: "rps", ratio: 2.08, low: 1.9, high: 2.2, verdict: "faster" } as const;
  const said = (decision: "faster" | "mixed" | "same" | "unclear", rows: Parameters<typeof headline>[0]["rows"]) =>
    headline({ decision, is_noise: false, rows });
  assert.deepEqual(said("faster", [rps, row]), { text: "2.1× the throughput, p50\u00a0−54%", note: "sure", tone: "good" });
  const same = { ...rps, ratio: 1, low: 0.98, high: 1.03, verdict: "same" } as const;
  assert.deepEqual(said("same", [same]), { text: "No difference in throughput", note: "±3%", tone: "none" });
  const tail = { ...row, metric: "p99", ratio: 1.8, verdict: "slower" } as const;
  assert.equal(said("mixed", [same, row, tail]).text, "p50\u00a0−54%, p99\u00a0+80%");
  assert.equal(said("mixed", [same, { ...row, metric: "p66" }, tail]).text, "p66\u00a0−54%, p99\u00a0+80%");
  assert.equal(said("unclear", [same]).text, "Not decided");
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
