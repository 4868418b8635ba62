import assert from "node:assert/strict";
import { test } from "node:test";

import type { ProcessSecond, Second } from "../src/format.ts";
import { explained, heading, marks, said, strips } from "../src/lib/strips.ts";

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
  assert.deepEqual(marks(seconds, []).map((mark) => [mark.at_s, mark.kind]), [[1, "failed"], [2, "failed"]]);
  assert.deepEqual(strips(seconds, []).at(-1)?.lines.map((line) => line.label), ["errors", "failed checks"]);
});

function process(pid: number, known: Partial<ProcessSecond>): ProcessSecond {
  return { pid, cpu_cores: 0, rss_bytes: 0, pss_bytes: null, gc_major: null, gc_share: null, ...known };
}

test("workers that come and go and rare collections are events", () => {
  const app = (pid: number) => ({ pid, role: "app" as const });
  const both = [process(1, {}), process(2, {})];
  const seconds = [
    second(0, { processes: both }),
    second(1, { processes: [process(1, { gc_major: 1 }), process(3, {})] }),
    second(2, { processes: [process(3, {}), process(1, {})] }),
    second(3, { processes: [] }),
  ];
  const seen = marks(seconds, [app(1), app(2), app(3)]);
  assert.deepEqual(seen.map((mark) => [mark.at_s, mark.kind]), [[1, "workers"], [1, "collected"]]);
  assert.equal(explained(seen), "■ a worker came or went, ● a major garbage collection");
  const often = [second(0, { processes: [process(1, { gc_major: 1 })] }), second(1, { processes: [process(1, {})] })];
  assert.deepEqual(marks(often, [app(1)]), []);
});

test("memory is shared pages counted once where the kernel tells", () => {
  const one = process(1, { rss_bytes: 64 << 20, pss_bytes: 48 << 20 });
  const other = process(2, { rss_bytes: 16 << 20 });
  const watched = second(0, { processes: [one, other] });
  const shown = strips([watched], [{ pid: 1, role: "app" }, { pid: 2, role: "app" }]);
  const memory = shown.find((strip) => strip.title === "Memory");
  assert.ok(memory);
  assert.deepEqual([heading(memory), said(memory, 64)], ["Memory (MiB)", "64.0 MiB"]);
  assert.deepEqual(memory.lines.map((line) => line.values), [[64]]);
});

test("cores are summed by role, and the process that collects most is shown", () => {
  const used = (pid: number, cpu_cores: number, gc_share: number | null) => process(pid, { cpu_cores, gc_share });
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
