// A sweep's steps as columns for charts. Connections stand at the powers of two that they are, so that 1 and 200 both
// have room.
import type { SweepStep } from "../format.ts";

export function place(connections: number): number {
  return Math.log2(connections);
}

/** Steps with fewer connections first, whatever order they were measured in. */
export function ordered(steps: SweepStep[]): SweepStep[] {
  return [...steps].sort((a, b) => a.connections - b.connections);
}

export function columns(
  steps: SweepStep[],
  values: ((step: SweepStep) => number | null)[],
): [number[], ...(number | null)[][]] {
  return [steps.map((step) => place(step.connections)), ...values.map((value) => steps.map(value))];
}

/** Connections of the step at a place, as its tick says. */
export function tick(steps: SweepStep[], at: number): string {
  const step = steps.find((known) => Math.abs(place(known.connections) - at) < 1e-6);
  return step ? String(step.connections) : "";
}
