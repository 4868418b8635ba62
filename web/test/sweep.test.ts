import assert from "node:assert/strict";
import { test } from "node:test";

import type { SweepStep } from "../src/format.ts";
import { columns, ordered, tick } from "../src/lib/sweep.ts";

function step(connections: number, rps: number | null): SweepStep {
  return {
    connections,
    run: 1,
    rps,
    latency_ms: { p50: 1, p95: 2, p99: null },
    failed: 0,
    cores: { app: 1, database: null, generator: 0.1 },
    memory_bytes: null,
  };
}

test("steps are ordered by their connections and stand at powers of two", () => {
  const steps = ordered([step(8, 300), step(1, 100), step(2, null)]);
  assert.deepEqual(columns(steps, [(one) => one.rps]), [[0, 1, 3], [100, null, 300]]);
  assert.equal(tick(steps, 3), "8");
  assert.equal(tick(steps, 2), "");
});
