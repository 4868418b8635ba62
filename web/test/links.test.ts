import assert from "node:assert/strict";
import { test } from "node:test";

import type { Finding, Run } from "../src/format.ts";
import { linksOf, statementName } from "../src/lib/links.ts";

const digest = "SELECT * FROM user WHERE id = ? AND a = ?";
const run = {
  routes: [{ route: "GET /" }, { route: "GET /message" }],
  sql: [{ digest: "SELECT 1" }, { digest }],
  profile: {
    flame: {
      frames: [["App#first", "/srv/chat/app.rb", 90, 0], ["App#get_message", "/srv/chat/app.rb", 100, 0], ["App#last", "/srv/chat/app.rb", 130, 0], ["Big#at", "/srv/other/big_app.rb", 110, 0], ["block in run", "/srv/chat/run.rb", 3, 0], ["block in run", "/srv/chat/run.rb", 9, 0]],
      graphs: [{ name: "all routes", frame: [0] }, { name: "GET /message", frame: [0, 1] }],
    },
  },
} as unknown as Run;

function links(evidence: string[], route: string | null): string[] {
  return linksOf({ title: "slow at big_app.rb:9", evidence, route } as Finding, run).map((link) => `${link.kind} ${link.href}`);
}

test("a finding leads to its route, its statements and its methods", () => {
  const evidence = ["100 executions per request", `48 × 11.7 ms at app.rb:110: ${digest}`, "called from app.rb:120 in block in get_message < app.rb:7 in unknown"];
  assert.deepEqual(links(evidence, "GET /message"), [
    "route #route-2",
    "statement #sql-2",
    "method #stacks?route=GET+%2Fmessage&focus=App%23get_message",
  ]);
});

test("methods that share a name are told apart by their lines", () => {
  assert.deepEqual(links(["called from run.rb:10"], "GET /message").slice(1), ["method #stacks?focus=block+in+run%3A9"]);
});

test("the beginning of a statement leads to it, and what is not on the page leads nowhere", () => {
  assert.deepEqual(links([`14 × ${digest.slice(0, 30)}…`], "GET /gone"), ["statement #sql-2"]);
  assert.deepEqual(links(["SELECT 2", "SELECT…"], null), []);
});

test("an empty statement has words", () => {
  assert.equal(statementName(digest), digest);
  assert.match(statementName(""), /an empty statement/);
});
