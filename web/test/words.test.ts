import assert from "node:assert/strict";
import { test } from "node:test";

import { pieces } from "../src/lib/prose.ts";
import { speak, t } from "../src/words.ts";

test("texts take their arguments, in the language that is spoken", () => {
  assert.equal(t("{count} in all", { count: 3 }), "3 in all");
  speak({ "{count} in all": "全 {count} 件" });
  assert.equal(t("{count} in all", { count: 3 }), "全 3 件");
  assert.equal(t("unknown to it"), "unknown to it");
  speak({});
});

test("code between backticks is told from words", () => {
  assert.deepEqual(pieces("run `a b` again"), [
    { text: "run ", code: false },
    { text: "a b", code: true },
    { text: " again", code: false },
  ]);
  assert.deepEqual(pieces("a ` alone"), [{ text: "a ` alone", code: false }]);
  assert.deepEqual(pieces("run `a lo…"), [
    { text: "run ", code: false },
    { text: "a lo…", code: true },
  ]);
});
