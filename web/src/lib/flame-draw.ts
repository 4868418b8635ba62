// Which boxes of a tree are on the screen, what a search holds, where the keyboard goes.
import type { IndexIntoNodes } from "../format.ts";
import type { Tree } from "./flame.ts";

/** A part of a row; `rest` boxes stand for siblings too narrow to be drawn, from `node` on. */
export interface Box {
  node: IndexIntoNodes;
  row: number;
  x: number;
  width: number;
  rest: boolean;
}

export interface Screen {
  width: number;
  firstRow: number;
  lastRow: number;
}

/** Narrower boxes cannot be told apart. */
const PIXELS_MIN = 1;

/**
 * The boxes that are to be drawn when `zoom` fills the width: at most as many as there are pixels, whatever the
 * size of the tree. Those it is called by fill the width too.
 */
export function boxes(tree: Tree, zoom: IndexIntoNodes, screen: Screen): Box[] {
  const found: Box[] = [];
  const shown = (row: number) => row >= screen.firstRow && row <= screen.lastRow;
  for (const node of ancestors(tree, zoom)) {
    const row = tree.depth[node] ?? 0;
    if (shown(row)) found.push({ node, row, x: 0, width: screen.width, rest: false });
  }
  const scale = screen.width / Math.max(tree.weight[zoom] ?? 0, Number.MIN_VALUE);
  const origin = tree.left[zoom] ?? 0;
  const end = tree.end[zoom] ?? 0;
  let node = zoom;
  while (node < end) {
    const row = tree.depth[node] ?? 0;
    const x = ((tree.left[node] ?? 0) - origin) * scale;
    const width = (tree.weight[node] ?? 0) * scale;
    if (width < PIXELS_MIN && node !== zoom && tree.inTime) {
      const next = afterNarrow(tree, node, scale);
      const right = next < end && tree.parent[next] === tree.parent[node] ? ((tree.left[next] ?? 0) - origin) * scale : x + width;
      if (right - x >= PIXELS_MIN && shown(row)) found.push({ node, row, x, width: right - x, rest: true });
      node = next;
    } else if (width < PIXELS_MIN && node !== zoom) {
      // Those after it are no wider.
      const parent = tree.parent[node] ?? 0;
      const right = (tree.left[parent] ?? 0) + (tree.weight[parent] ?? 0) - (tree.own[parent] ?? 0);
      const left = (right - origin) * scale - x;
      if (left >= PIXELS_MIN && shown(row)) found.push({ node, row, x, width: left, rest: true });
      node = tree.end[parent] ?? end;
    } else if (row > screen.lastRow) {
      node = tree.end[node] ?? end;
    } else {
      if (shown(row)) found.push({ node, row, x, width, rest: false });
      node += 1;
    }
  }
  return found;
}

/** The first node after a row of siblings that are too narrow to be drawn. */
function afterNarrow(tree: Tree, node: IndexIntoNodes, scale: number): IndexIntoNodes {
  const end = tree.end[tree.parent[node] ?? 0] ?? 0;
  let next = tree.end[node] ?? end;
  while (next < end && (tree.weight[next] ?? 0) * scale < PIXELS_MIN) next = tree.end[next] ?? end;
  return next;
}

/** The outermost first, without the node itself. */
export function ancestors(tree: Tree, node: IndexIntoNodes): IndexIntoNodes[] {
  const found: number[] = [];
  for (let at = tree.parent[node] ?? -1; at >= 0; at = tree.parent[at] ?? -1) found.unshift(at);
  return found;
}

/** How deep the tree is below a node, the node and those above it included. */
export function rowsBelow(tree: Tree, zoom: IndexIntoNodes): number {
  let deepest = tree.depth[zoom] ?? 0;
  const end = tree.end[zoom] ?? 0;
  for (let node = zoom; node < end; node++) deepest = Math.max(deepest, tree.depth[node] ?? 0);
  return deepest + 1;
}

/** Weight of all stacks with a frame that matches, each counted once. */
export function matched(tree: Tree, matches: readonly boolean[]): number {
  let sum = 0;
  let node = 1;
  while (node < tree.frame.length) {
    if (matches[tree.frame[node] ?? -1]) {
      sum += tree.weight[node] ?? 0;
      node = tree.end[node] ?? tree.frame.length;
    } else {
      node += 1;
    }
  }
  return sum;
}

/** The state that holds most of a node. */
export function mainState(tree: Tree, node: IndexIntoNodes): number {
  let [best, most] = [0, -1];
  for (let state = 0; state < tree.states; state++) {
    const weight = tree.byState[node * tree.states + state] ?? 0;
    if (weight > most) [best, most] = [state, weight];
  }
  return best;
}

/** Where an arrow key leads; the node itself where there is nothing. */
export function neighbour(tree: Tree, node: IndexIntoNodes, key: string): IndexIntoNodes {
  const parent = tree.parent[node] ?? -1;
  const end = tree.end[node] ?? 0;
  switch (key) {
    case "ArrowUp":
      return Math.max(parent, 0);
    case "ArrowDown":
      return node + 1 < end && (tree.weight[node + 1] ?? 0) > 0 ? node + 1 : node;
    case "ArrowRight": {
      const next = parent >= 0 && end < (tree.end[parent] ?? 0) ? end : node;
      return (tree.weight[next] ?? 0) > 0 ? next : node;
    }
    case "ArrowLeft": {
      if (parent < 0) return node;
      let before = parent + 1;
      if (before === node) return node;
      while ((tree.end[before] ?? node) < node) before = tree.end[before] ?? node;
      return before;
    }
    default:
      return node;
  }
}

/** The change of a node's share of the whole, −1 to 1. */
export function change(tree: Tree, node: IndexIntoNodes, before: boolean): number {
  const share = (values: Float64Array) => (values[node] ?? 0) / Math.max(values[0] ?? 0, Number.MIN_VALUE);
  return before ? share(tree.other) - share(tree.weight) : share(tree.weight) - share(tree.other);
}

/** Of the weight of the app's methods this much must be below a node for it to be where the app begins. */
const ENTRY_SHARE = 0.95;

/**
 * Where the app's own code begins: its first method, if nearly all of its time is in one, or else the place where the
 * ways to its methods part. The root where no method is the app's.
 */
export function entry(tree: Tree, isApp: (frame: number) => boolean): IndexIntoNodes {
  const count = tree.frame.length;
  const below = new Float64Array(count);
  for (let node = count - 1; node > 0; node--) {
    if (isApp(tree.frame[node] ?? -1)) below[node] = tree.weight[node] ?? 0;
    const parent = tree.parent[node] ?? 0;
    below[parent] = (below[parent] ?? 0) + (below[node] ?? 0);
  }
  const enough = ENTRY_SHARE * (below[0] ?? 0);
  let node = 0;
  while (enough > 0 && (node === 0 || !isApp(tree.frame[node] ?? -1))) {
    const next = children(tree, node).find((child) => (below[child] ?? 0) >= enough);
    if (next === undefined) break;
    node = next;
  }
  return node;
}

function children(tree: Tree, node: IndexIntoNodes): IndexIntoNodes[] {
  const found: number[] = [];
  const end = tree.end[node] ?? 0;
  for (let child = node + 1; child < end; child = tree.end[child] ?? end) found.push(child);
  return found;
}

/** The nodes of all frames that match, in the order of the tree. */
export function hits(tree: Tree, matches: readonly boolean[]): IndexIntoNodes[] {
  const found: number[] = [];
  for (let node = 1; node < tree.frame.length; node++) if (matches[tree.frame[node] ?? -1]) found.push(node);
  return found;
}

/** The widest node of the methods that match. */
export function widest(tree: Tree, matches: readonly boolean[]): IndexIntoNodes {
  const weight = (node: number) => (node > 0 ? (tree.weight[node] ?? 0) : -1);
  return hits(tree, matches).reduce((best, node) => (weight(node) > weight(best) ? node : best), 0);
}
