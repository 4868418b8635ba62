import assert from "node:assert/strict";
import { test } from "node:test";

import { clicked, sorted } from "../src/lib/sort.ts";

test("a column begins with the greatest and turns round on the second click", () => {
  const first = clicked({ key: "time", descending: false }, "rows");
  assert.deepEqual(first, { key: "rows", descending: true });
  assert.deepEqual(clicked(first, "rows"), { key: "rows", descending: false });
});

test("equal rows keep their order, and the given list is left alone", () => {
  const rows = [{ id: 1, n: 5 }, { id: 2, n: 7 }, { id: 3, n: 5 }];
  assert.deepEqual(sorted(rows, (row) => row.n, true).map((row) => row.id), [2, 1, 3]);
  assert.deepEqual(sorted(rows, (row) => row.n, false).map((row) => row.id), [1, 3, 2]);
  assert.deepEqual(rows.map((row) => row.id), [1, 2, 3]);
});
