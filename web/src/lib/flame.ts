// Folded stacks, folded again as the reader wants to see them: by state, turned round, around one method.
// What a tree is drawn from is in flame-draw.ts.
import type { FlameGraph, IndexIntoFrames, IndexIntoNodes } from "../format.ts";

/** The graph of the document with parents instead of depths. */
export interface Stacks {
  parent: Int32Array;
  frame: Int32Array;
  entries: Entries;
  /** Of the earlier of two profiles; none where there is but one. */
  before: Entries;
}

/** What was seen at which node: parallel columns. */
export interface Entries {
  node: Int32Array;
  state: Uint8Array;
  weight: Float64Array;
  bytes: Float64Array;
}

/** `callers` and `callees` are of one method; of one that calls itself the outermost call counts. */
export type Shape =
  | { kind: "callees first" }
  | { kind: "callers first" }
  /** Of one thread, the earliest first. */
  | { kind: "in time" }
  | { kind: "callers"; of: IndexIntoFrames }
  | { kind: "callees"; of: IndexIntoFrames };

export interface Wish {
  shape: Shape;
  /** By number of the state. */
  states: readonly boolean[];
  measure: "weight" | "bytes";
  /** Widths are those of the earlier profile. */
  before: boolean;
  /** Of methods that call themselves only the outermost call is kept, and what lies between is cut out. */
  foldRecursion: boolean;
  /** By frame, where only the app's code is wanted: what is a library's becomes one frame, whose number is the first after all others. */
  whose: readonly Whose[] | null;
}

/** Methods in C are of whoever calls them. */
export type Whose = "app" | "C" | "library";

/** Depth-first, heavier siblings first; node 0 is the root, whose frame is −1. */
export interface Tree {
  parent: Int32Array;
  frame: Int32Array;
  depth: Int32Array;
  /** The first node after all below this one. */
  end: Int32Array;
  weight: Float64Array;
  own: Float64Array;
  /** The same node in the other of two profiles. */
  other: Float64Array;
  /** Weight by state: `node * states + state`. */
  byState: Float64Array;
  states: number;
  /** Where it begins, in weight from the root's left edge. */
  left: Float64Array;
  rows: number;
  /** Siblings are in the order of time, not of weight. */
  inTime: boolean;
}

export function stacksOf(graph: Pick<FlameGraph, "depth" | "frame" | "own" | "before" | "bytes">): Stacks {
  const count = graph.depth.length;
  const parent = new Int32Array(count);
  const open: number[] = [0];
  for (let node = 1; node < count; node++) {
    const depth = graph.depth[node] ?? 1;
    parent[node] = open[depth - 1] ?? 0;
    open[depth] = node;
  }
  const frame = Int32Array.from(graph.frame);
  if (count > 0) frame[0] = -1;
  return { parent, frame, entries: entries(graph.own, graph.bytes), before: entries(graph.before ?? [], undefined) };
}

function entries(triples: number[], bytes: number[] | undefined): Entries {
  const column = (offset: number) => triples.filter((_, index) => index % 3 === offset);
  return {
    node: Int32Array.from(column(0)),
    state: Uint8Array.from(column(1)),
    weight: Float64Array.from(column(2)),
    bytes: Float64Array.from(bytes ?? []),
  };
}

/** A tree that grows: nodes come after their parents. */
class Growing {
  parent: number[] = [-1];
  frame: number[] = [-1];
  own: number[] = [0];
  other: number[] = [0];
  byState: number[];
  private places = new Map<number, number>();
  /** The child that a node got last. */
  private last = new Map<number, number>();

  constructor(
    private states: number,
    private frames: number,
    /** A call that is made again later is another one. */
    readonly inTime: boolean,
  ) {
    this.byState = new Array<number>(states).fill(0);
  }

  below(node: number, frame: number): number {
    const key = node * this.frames + frame;
    const known = this.places.get(key);
    if (known !== undefined && (!this.inTime || this.last.get(node) === known)) return known;
    const fresh = this.parent.length;
    this.places.set(key, fresh);
    this.last.set(node, fresh);
    this.parent.push(node);
    this.frame.push(frame);
    this.own.push(0);
    this.other.push(0);
    for (let state = 0; state < this.states; state++) this.byState.push(0);
    return fresh;
  }

  add(path: readonly number[], state: number, weight: number): void {
    let node = 0;
    for (const frame of path) node = this.below(node, frame);
    this.own[node] = (this.own[node] ?? 0) + weight;
    const place = node * this.states + state;
    this.byState[place] = (this.byState[place] ?? 0) + weight;
  }

  addOther(path: readonly number[], weight: number): void {
    let node = 0;
    for (const frame of path) node = this.below(node, frame);
    this.other[node] = (this.other[node] ?? 0) + weight;
  }
}

/** Folds what the wish selects. Weights add up to those selected. */
export function fold(stacks: Stacks, wish: Wish): Tree {
  const frames = stacks.frame.reduce((most, frame) => Math.max(most, frame), wish.whose?.length ?? 0) + 1;
  const growing = new Growing(wish.states.length, frames, wish.shape.kind === "in time");
  const [shown, hidden] = wish.before ? [stacks.before, stacks.entries] : [stacks.entries, stacks.before];
  each(stacks, shown, wish, (path, state, weight) => growing.add(path, state, weight));
  each(stacks, hidden, wish, (path, _state, weight) => growing.addOther(path, weight));
  return arranged(growing, wish.states.length);
}

function each(
  stacks: Stacks,
  all: Entries,
  wish: Wish,
  take: (path: number[], state: number, weight: number) => void,
): void {
  const weights = wish.measure === "bytes" ? all.bytes : all.weight;
  let last = -1;
  let path: number[] | null = null;
  for (let index = 0; index < all.node.length; index++) {
    const state = all.state[index] ?? 0;
    const weight = weights[index] ?? 0;
    if (!wish.states[state] || weight === 0) continue;
    const node = all.node[index] ?? 0;
    if (node !== last) {
      path = outwards(stacks, node);
      if (wish.foldRecursion) path = folded(path);
      if (wish.whose) path = covered(path, wish.whose);
      path = shaped(path, wish.shape);
      last = node;
    }
    if (path) take(path, state, weight);
  }
}

/** Frames from the node to the root, the innermost first. */
export function outwards(stacks: Stacks, node: IndexIntoNodes): number[] {
  const path: number[] = [];
  for (let at = node; at > 0; at = stacks.parent[at] ?? 0) path.push(stacks.frame[at] ?? 0);
  return path;
}

/** Runs of a library's frames as one frame each. */
function covered(outwards: number[], whose: readonly Whose[]): number[] {
  const cover = whose.length;
  const kept: number[] = [];
  for (const frame of outwards.toReversed()) {
    const isWithin = kept.at(-1) === cover;
    const isCovered = whose[frame] === "library" || (whose[frame] === "C" && isWithin);
    if (!isCovered) kept.push(frame);
    else if (!isWithin) kept.push(cover);
  }
  return kept.reverse();
}

function folded(outwards: number[]): number[] {
  const kept: number[] = [];
  const places = new Map<number, number>();
  for (const frame of outwards.toReversed()) {
    const place = places.get(frame);
    if (place === undefined) {
      places.set(frame, kept.length);
      kept.push(frame);
    } else {
      for (const cut of kept.splice(place + 1)) places.delete(cut);
    }
  }
  return kept.reverse();
}

function shaped(outwards: number[], shape: Shape): number[] | null {
  switch (shape.kind) {
    case "callers first":
    case "in time":
      return outwards.reverse();
    case "callees first":
      return outwards;
    case "callers": {
      const place = outwards.lastIndexOf(shape.of);
      return place < 0 ? null : outwards.slice(place);
    }
    case "callees": {
      const place = outwards.lastIndexOf(shape.of);
      return place < 0 ? null : outwards.slice(0, place + 1).reverse();
    }
  }
}

function arranged(growing: Growing, states: number): Tree {
  const count = growing.parent.length;
  const weight = Float64Array.from(growing.own);
  const other = Float64Array.from(growing.other);
  const byState = Float64Array.from(growing.byState);
  for (let node = count - 1; node > 0; node--) {
    const parent = growing.parent[node] ?? 0;
    add(weight, parent, weight[node]);
    add(other, parent, other[node]);
    for (let state = 0; state < states; state++) {
      add(byState, parent * states + state, byState[node * states + state]);
    }
  }
  // Nodes that grew in time are in depth-first order.
  const order = growing.inTime ? growing.parent.map((_, node) => node) : depthFirst(growing.parent, weight, other);
  const moved = new Int32Array(count);
  order.forEach((node, place) => (moved[node] = place));
  const pick = (values: ArrayLike<number>) => Float64Array.from(order, (node) => values[node] ?? 0);
  const tree: Tree = {
    parent: Int32Array.from(order, (node) => (node === 0 ? -1 : (moved[growing.parent[node] ?? 0] ?? 0))),
    frame: Int32Array.from(order, (node) => growing.frame[node] ?? -1),
    depth: new Int32Array(count),
    end: new Int32Array(count),
    weight: pick(weight),
    own: pick(growing.own),
    other: pick(other),
    byState: new Float64Array(count * states),
    states,
    left: new Float64Array(count),
    rows: 1,
    inTime: growing.inTime,
  };
  order.forEach((node, place) => {
    for (let state = 0; state < states; state++) {
      tree.byState[place * states + state] = byState[node * states + state] ?? 0;
    }
  });
  place(tree);
  return tree;
}

function add(values: Float64Array, index: number, value: number | undefined): void {
  values[index] = (values[index] ?? 0) + (value ?? 0);
}

function depthFirst(parent: readonly number[], weight: Float64Array, other: Float64Array): number[] {
  const children = new Map<number, number[]>();
  for (let node = 1; node < parent.length; node++) {
    const siblings = children.get(parent[node] ?? 0);
    if (siblings) siblings.push(node);
    else children.set(parent[node] ?? 0, [node]);
  }
  // The lightest first, since the last one is taken from the stack first.
  const size = (values: Float64Array, node: number) => values[node] ?? 0;
  for (const siblings of children.values()) {
    siblings.sort((a, b) => size(weight, a) - size(weight, b) || size(other, a) - size(other, b) || b - a);
  }
  const order: number[] = [];
  const waiting = [0];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    order.push(node);
    for (const child of children.get(node) ?? []) waiting.push(child);
  }
  return order;
}

/** Depths, ends and left edges; children lie at the left of their parent, its own weight at the right. */
function place(tree: Tree): void {
  const count = tree.parent.length;
  const filled = new Float64Array(count);
  for (let node = 1; node < count; node++) {
    const parent = tree.parent[node] ?? 0;
    tree.depth[node] = (tree.depth[parent] ?? 0) + 1;
    tree.left[node] = (tree.left[parent] ?? 0) + (filled[parent] ?? 0);
    add(filled, parent, tree.weight[node]);
    tree.rows = Math.max(tree.rows, (tree.depth[node] ?? 0) + 1);
  }
  for (let node = count - 1; node >= 0; node--) {
    tree.end[node] = Math.max(tree.end[node] ?? 0, node + 1);
    const parent = tree.parent[node] ?? -1;
    if (parent >= 0) tree.end[parent] = Math.max(tree.end[parent] ?? 0, tree.end[node] ?? 0);
  }
}

/** Weight by state of a whole graph. */
export function statesOf(stacks: Stacks, count: number, before: boolean): number[] {
  const sums = new Array<number>(count).fill(0);
  const all = before ? stacks.before : stacks.entries;
  all.state.forEach((state, index) => (sums[state] = (sums[state] ?? 0) + (all.weight[index] ?? 0)));
  return sums;
}

export interface Method {
  frame: IndexIntoFrames;
  own: number;
  all: number;
}

/** Methods with and without what they call; one that calls itself counts once. */
export function methods(stacks: Stacks, wish: Wish): Method[] {
  const found = new Map<number, Method>();
  const method = (frame: number): Method => {
    const known = found.get(frame);
    if (known) return known;
    const fresh = { frame, own: 0, all: 0 };
    found.set(frame, fresh);
    return fresh;
  };
  const all = wish.before ? stacks.before : stacks.entries;
  each(stacks, all, { ...wish, shape: { kind: "callees first" } }, (path, _state, weight) => {
    const inner = path[0];
    if (inner !== undefined) method(inner).own += weight;
    for (const frame of new Set(path)) method(frame).all += weight;
  });
  return [...found.values()];
}
