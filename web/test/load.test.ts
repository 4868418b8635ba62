import assert from "node:assert/strict";
import { test } from "node:test";

import { percentiles } from "../src/lib/load.ts";

test("percentiles stand in order, and what is not known stays so", () => {
  const times = { count: 3, mean: 2, p50: 2, p90: 3, p95: null, p99: null, "p99.9": null, max: 4 };
  const names = percentiles(times).map(([name]) => name);
  assert.deepEqual(names, ["p50", "p90", "p95", "p99", "p99.9", "max"]);
  assert.deepEqual(percentiles(times).at(0), ["p50", 2]);
  assert.deepEqual(percentiles(times).at(3), ["p99", null]);
});
