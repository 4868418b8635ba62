import assert from "node:assert/strict";
import { test } from "node:test";

import type { Second } from "../src/format.ts";
import { marks, strips } from "../src/lib/strips.ts";

function second(at_s: number, known: Partial<Second>): Second {
  const latency_ms = { p50: 1, p90: 2, p95: 3, p99: null, max: 9 };
  const unwatched = { threads_busy: null, backlog: null, cpu_busy_cores: null, cpu_steal_cores: null, processes: [] };
  return { at_s, answered: 10, errors: 0, checks_failed: 0, latency_ms, ...unwatched, ...known };
}

test("what never happened has no strip", () => {
  const shown = strips([second(0, {}), second(1, { answered: 0 })], []);
  assert.deepEqual(shown.map((strip) => strip.title), ["Requests answered", "Latency"]);
  assert.deepEqual(shown[0]?.lines[0]?.values, [10, 0]);
  assert.deepEqual(strips([], []), []);
});

test("seconds with failures are marked", () => {
  const seconds = [second(0, {}), second(1, { errors: 2 }), second(2, { checks_failed: 1 })];
  assert.deepEqual(marks(seconds).map((mark) => mark.at_s), [1, 2]);
  assert.deepEqual(strips(seconds, []).at(-1)?.lines.map((line) => line.label), ["errors", "failed checks"]);
});

test("cores are summed by role, and the process that collects most is shown", () => {
  const used = (pid: number, cpu_cores: number, gc_share: number | null) => ({ pid, cpu_cores, gc_share });
  const watched = second(0, { cpu_busy_cores: 1.9, threads_busy: 4.5, processes: [used(1, 0.5, 0.1), used(2, 0.7, 0.25), used(3, 0.1, null)] });
  const processes = [
    { pid: 1, role: "app" as const },
    { pid: 2, role: "app" as const },
    { pid: 3, role: "generator" as const },
  ];
  const shown = strips([watched], processes).slice(2);
  assert.deepEqual(
    shown.map((strip) => [strip.title.split(",")[0], strip.lines.map((line) => [line.label, line.values[0]])]),
    [
      ["Cores in use", [["whole host", 1.9], ["app", 1.2], ["generator", 0.1]]],
      ["Threads", [["busy", 4.5]]],
      ["Garbage collection", [["collecting", 25]]],
    ],
  );
});
