import assert from "node:assert/strict";
import { test } from "node:test";

import type { FlameGraph } from "../src/format.ts";
import { fold, methods, stacksOf, statesOf, type Shape, type Tree, type Wish } from "../src/lib/flame.ts";
import { boxes, change, entry, hits, mainState, matched, neighbour, rowsBelow, widest } from "../src/lib/flame-draw.ts";

const NAMES = ["main", "a", "b", "x"];
/** main→a→x 4 running and 2 sleeping, main→b→x 3, main→b 1, and before: main→a→x 5. */
const GRAPH: FlameGraph = {
  name: "all",
  requests: null,
  depth: [0, 1, 2, 3, 2, 3],
  frame: [0, 0, 1, 3, 2, 3],
  own: [3, 0, 4, 3, 7, 2, 4, 0, 1, 5, 0, 3],
  before: [3, 0, 5],
};
const ALL = new Array<boolean>(9).fill(true);

function wish(shape: Shape, states = ALL, before = false): Wish {
  return { shape, states, measure: "weight", before, foldRecursion: false, whose: null };
}

function told(tree: Tree): string[] {
  return [...tree.frame].map((frame, node) => {
    const name = frame < 0 ? "*" : NAMES[frame];
    return `${"-".repeat(tree.depth[node] ?? 0)}${name} ${tree.weight[node]}(${tree.own[node]})`;
  });
}

const stacks = stacksOf(GRAPH);
const down = fold(stacks, wish({ kind: "callers first" }));

test("the tree has the weights of all below, heavier siblings first", () => {
  assert.deepEqual(told(down), ["* 10(0)", "-main 10(0)", "--a 6(0)", "---x 6(6)", "--b 4(1)", "---x 3(3)"]);
  assert.deepEqual([...down.left], [0, 0, 0, 0, 6, 6]);
  assert.equal(down.rows, 4);
});

test("turned round it begins with the innermost", () => {
  const up = fold(stacks, wish({ kind: "callees first" }));
  assert.deepEqual(told(up).slice(0, 4), ["* 10(0)", "-x 9(0)", "--a 6(0)", "---main 6(6)"]);
});

test("a method's callers and callees hold all of it", () => {
  const x = fold(stacks, wish({ kind: "callers", of: 3 }));
  assert.deepEqual(told(x), ["* 9(0)", "-x 9(0)", "--a 6(0)", "---main 6(6)", "--b 3(0)", "---main 3(3)"]);
  const b = fold(stacks, wish({ kind: "callees", of: 2 }));
  assert.deepEqual(told(b), ["* 4(0)", "-b 4(1)", "--x 3(3)"]);
});

test("recursion is folded to the outermost call", () => {
  // main→a→b→a→x 5, main→a→b→a 2
  const graph = { ...GRAPH, depth: [0, 1, 2, 3, 4, 5], frame: [0, 0, 1, 2, 1, 3], own: [5, 0, 5, 4, 0, 2], before: [] };
  const once = fold(stacksOf(graph), { ...wish({ kind: "callers first" }), foldRecursion: true });
  assert.deepEqual(told(once), ["* 7(0)", "-main 7(0)", "--a 7(2)", "---x 5(5)"]);
});

test("states can be left out, and the one that holds most is told", () => {
  const sleeping = ALL.map((_, state) => state === 7);
  assert.deepEqual(told(fold(stacks, wish({ kind: "callers first" }, sleeping))), ["* 2(0)", "-main 2(0)", "--a 2(0)", "---x 2(2)"]);
  assert.equal(mainState(down, 3), 0);
  assert.deepEqual(statesOf(stacks, 9, false), [8, 0, 0, 0, 0, 0, 0, 2, 0]);
});

test("the earlier profile stands beside the later", () => {
  assert.equal(down.other[3], 5);
  assert.ok(Math.abs(change(down, 2, false) - (0.6 - 1)) < 1e-9);
  const earlier = fold(stacks, wish({ kind: "callers first" }, ALL, true));
  assert.deepEqual(told(earlier).slice(0, 4), ["* 5(0)", "-main 5(0)", "--a 5(0)", "---x 5(5)"]);
  assert.ok(Math.abs(change(earlier, 2, true) - (0.6 - 1)) < 1e-9);
});

test("a search counts each stack once", () => {
  assert.equal(matched(down, [true, true, false, false]), 10);
  assert.equal(matched(down, [false, true, false, true]), 9);
  assert.equal(matched(down, [false, false, false, false]), 0);
});

test("a library's methods become one frame for each run of them, with what they call in C", () => {
  const mine = fold(stacks, { ...wish({ kind: "callers first" }), whose: ["library", "C", "app", "C"] });
  // main→a→x is one run, main→b→x keeps b and the C that b calls.
  assert.deepEqual([...mine.frame], [-1, 4, 2, 3]);
  assert.deepEqual([...mine.weight], [10, 10, 4, 3]);
});

test("a graph begins at the app's first method, or where the ways to its methods part", () => {
  const begins = (...app: number[]) => entry(down, (frame) => app.includes(frame));
  assert.equal(begins(0), 1, "main is the app's");
  assert.equal(begins(1, 2), 1, "below main both are");
  assert.equal(begins(1), 2);
  assert.equal(begins(3), 1);
  assert.equal(begins(), 0);
});

test("matches are found in the order of the tree", () => {
  assert.deepEqual(hits(down, [false, false, false, true]), [3, 5]);
  assert.equal(widest(down, [false, true, false, true]), 2);
  assert.equal(widest(down, [false, false, false, false]), 0);
});

test("methods are counted with and without what they call", () => {
  const found = methods(stacks, wish({ kind: "callers first" })).map((one) => [NAMES[one.frame], one.own, one.all]);
  assert.deepEqual(found.sort(), [["a", 0, 6], ["b", 1, 4], ["main", 0, 10], ["x", 9, 9]]);
});

test("arrow keys walk the tree", () => {
  const walk = (node: number, ...keys: string[]) => keys.reduce((at, key) => neighbour(down, at, key), node);
  assert.equal(walk(0, "ArrowDown", "ArrowDown", "ArrowRight"), 4);
  assert.equal(walk(4, "ArrowLeft"), 2);
  assert.equal(walk(2, "ArrowLeft"), 2);
  assert.equal(walk(5, "ArrowRight", "ArrowDown", "ArrowUp", "ArrowUp"), 1);
  assert.equal(walk(0, "ArrowUp", "ArrowLeft", "ArrowRight"), 0);
});

test("zooming fills the width, with those above it", () => {
  const drawn = boxes(down, 4, { width: 100, firstRow: 0, lastRow: 9 });
  assert.deepEqual(
    drawn.map((box) => [box.node, box.row, box.x, box.width]),
    [[0, 0, 0, 100], [1, 1, 0, 100], [4, 2, 0, 100], [5, 3, 0, 75]],
  );
  assert.equal(rowsBelow(down, 2), 4);
});

test("however large the tree, no more is drawn than can be seen", () => {
  // 2,000 branches of 20 frames each, 40 of them wide enough for a screen of 1,000 pixels.
  const [branches, deep] = [2000, 20];
  const large: FlameGraph = { name: "", requests: null, depth: [0], frame: [0], own: [] };
  for (let branch = 0; branch < branches; branch++) {
    for (let depth = 1; depth <= deep; depth++) {
      large.depth.push(depth);
      large.frame.push(branch * deep + depth);
    }
    large.own.push(large.depth.length - 1, 0, branch < 40 ? 500 : 1);
  }
  const tree = fold(stacksOf(large), wish({ kind: "callers first" }));
  const drawn = boxes(tree, 0, { width: 1000, firstRow: 0, lastRow: 10 });
  assert.ok(drawn.every((box) => box.row <= 10));
  assert.equal(drawn.length, 1 + 40 * 10 + 1, "and one for the narrow ones");
  const rest = drawn.find((box) => box.rest);
  assert.ok(rest && Math.abs(rest.x + rest.width - 1000) < 1e-6);
});

test("in time, calls are apart and the earliest is first", () => {
  const time = { depth: [0, 1, 2, 2, 2], frame: [0, 0, 1, 2, 1], own: [2, 0, 1, 3, 0, 5, 4, 0, 1, 4, 0, 2] };
  const tree = fold(stacksOf(time), wish({ kind: "in time" }));
  assert.deepEqual(told(tree), ["* 9(0)", "-main 9(0)", "--a 1(1)", "--b 5(5)", "--a 3(3)"]);
  assert.deepEqual([...tree.left], [0, 0, 0, 1, 6]);
});

test("in time, neighbours too narrow to be drawn are skipped, and what follows them is drawn", () => {
  const time = { depth: [0, 1, 1, 1, 1], frame: [0, 0, 1, 0, 2], own: [1, 0, 1, 2, 0, 2, 3, 0, 1, 4, 0, 996] };
  const tree = fold(stacksOf(time), wish({ kind: "in time" }));
  const drawn = boxes(tree, 0, { width: 500, firstRow: 0, lastRow: 9 });
  assert.deepEqual(
    drawn.map(({ node, x, width, rest }) => [node, x, width, rest]),
    [
      [0, 0, 500, false],
      [2, 0.5, 1, false],
      [4, 2, 498, false],
    ],
  );
});
