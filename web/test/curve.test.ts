import assert from "node:assert/strict";
import { test } from "node:test";

import { columns, nines } from "../src/lib/curve.ts";

test("each further nine has the same room, and the greatest value comes last", () => {
  assert.ok(Math.abs(nines(0.99) - 2) < 1e-9);
  const [x, latency, service] = columns([
    { share: 0.5, latency_ms: 5, service_ms: 4 },
    { share: 0.9, latency_ms: 9, service_ms: 8 },
    { share: 1, latency_ms: 20, service_ms: null },
  ]);
  assert.deepEqual(x.map((at) => Number(at.toFixed(3))), [0.301, 1, 1.5]);
  assert.deepEqual(latency, [5, 9, 20]);
  assert.deepEqual(service, [4, 8, null]);
  assert.deepEqual(columns([]), [[], [], []]);
});
