// A slow request as pieces on a line of time.
import type { Exemplar, IndexIntoFrames, Milliseconds, State } from "../format.ts";

export interface Piece {
  state: State;
  start_ms: Milliseconds;
  length_ms: Milliseconds;
  /** The outermost frame first. */
  stack: IndexIntoFrames[];
}

/** What was seen inside the app, in time; neighbours of the same state and stack are one piece. */
export function piecesOf(exemplar: Exemplar, states: readonly State[]): Piece[] {
  const seen = [...exemplar.samples].sort((a, b) => a[1] - b[1]);
  const pieces: Piece[] = [];
  for (const [number, start, length, stack] of seen) {
    const begin = Math.max(start, exemplar.start_ms);
    const end = Math.min(start + length, exemplar.end_ms);
    const state = states[number];
    if (end <= begin || !state) continue;
    const last = pieces.at(-1);
    if (last?.state === state && String(last.stack) === String(stack)) {
      last.length_ms = Math.max(last.length_ms, end - last.start_ms);
    } else {
      pieces.push({ state, start_ms: begin, length_ms: end - begin, stack });
    }
  }
  return pieces;
}
