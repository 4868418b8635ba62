// What charts share: the place that is pointed at, and the stretch that is shown.
import type { Range } from "../lib/chart.ts";

export class ChartGroup {
  /** Of the first column, which is the same in all charts of a group. */
  index = $state<number | null>(null);
  /** `null` shows all. */
  zoom = $state.raw<Range | null>(null);
}
