import assert from "node:assert/strict";
import { test } from "node:test";

import type { Balance } from "../src/format.ts";
import { bar, telling, TERMS, used } from "../src/lib/balance.ts";

function balance(known: Partial<Balance>): Balance {
  const none = Object.fromEntries(TERMS.map(({ term }) => [term, 0]));
  return { ...none, receive: 0, ...known } as Balance;
}

test("a bar is cut into exclusive parts that add up to the mean", () => {
  const cut = bar(balance({ queue: 30, receive: 20, sql: 9, cpu: 2, unaccounted: -1 }));
  assert.equal(cut.mean, 40);
  assert.equal(cut.parts.reduce((sum, part) => sum + part.ms, 0), cut.mean);
  assert.equal(cut.parts.find((part) => part.term === "queue")?.share, 0.75);
});

test("labels name what is worth it, greatest first", () => {
  const cut = bar(balance({ queue: 1, sql: 98.5, gc: 0.5 }));
  assert.deepEqual(telling(cut).map((part) => part.term), ["sql", "queue"]);
  assert.deepEqual(used([cut]).map((words) => words.term), ["queue", "sql"]);
});

test("a balance of nothing is no division by zero", () => {
  assert.ok(bar(balance({})).parts.every((part) => part.share === 0));
});
