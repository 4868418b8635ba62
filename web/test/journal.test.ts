import assert from "node:assert/strict";
import { test } from "node:test";

import type { LoggedRun } from "../src/format.ts";
import { change, holds, remarks, series } from "../src/lib/journal.ts";

function run(number: number, against: number | null): LoggedRun {
  const latency_ms = { p50: null, p95: null, p99: null };
  const rest = { started_at_unix_ms: 0, complete: true, part_of: null, dirty: null, score: null, errors: 0, checks_failed: 0 };
  return { number, against, rps: number, latency_ms, commit: "abcdef0", changes: [], change_share: null, noise_share: null, notes: [], trials: [], ...rest };
}

test("only runs of the same load are one series, the newest first", () => {
  const found = series([run(1, null), run(2, 1), run(3, null), run(4, 2), run(5, 3)]);
  assert.deepEqual(found.map(({ runs }) => runs.map(({ number }) => number)), [[3, 5], [1, 2, 4]]);
  assert.deepEqual(series([run(9, 4)]).map(({ last }) => last), [9], "the run before it was forgotten");
});

test("a change stands beside its noise", () => {
  assert.equal(change(run(1, null)), "");
  assert.equal(change({ ...run(2, 1), change_share: -0.5 }), "−50% (noise unknown: run again unchanged)");
  assert.equal(change({ ...run(2, 1), change_share: 0.02, noise_share: 0.03 }), "+2%, within the noise of ±3%");
});

test("all words of a search are looked for in all texts of a run", () => {
  const trial = { finding: null, remedy: "--yjit", kept: false, decision: "faster", verdict: "B is faster" };
  const one = { ...run(12, null), notes: ["Index on message"], trials: [trial] };
  assert.ok(holds(one, "") && holds(one, "12 index") && holds(one, "YJIT faster"));
  assert.ok(!holds(one, "index slower"));
  assert.deepEqual(remarks({ ...one, complete: false }), ["cut off before its end", "note: Index on message"]);
});
