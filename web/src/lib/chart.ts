// How charts look, in one place: uPlot's options from the little that differs between ours.
import type uPlot from "uplot";

import { t } from "../words.ts";
import { UNKNOWN } from "./numbers.ts";

export interface ChartLine {
  label: string;
  /** So that lines are told apart without colour. */
  dash?: number[];
}

export interface ChartMark {
  x: number;
  /** One character. */
  sign: string;
}

export interface ChartAxis {
  /** What stands at a tick; neighbouring ticks are `step` apart. */
  format: (value: number, step: number) => string;
  /** A value with its unit; without it, as at a tick. */
  say?: (value: number) => string;
}

export interface ChartWish {
  height: number;
  lines: ChartLine[];
  /** So few values that a line alone might not be seen. */
  few?: boolean;
  /** Powers of ten on the upright axis. */
  log: boolean;
  x: ChartAxis & { splits?: number[]; label?: string };
  y: ChartAxis;
  marks?: ChartMark[];
}

export type Range = readonly [low: number, high: number];
type Column = ArrayLike<number | null | undefined>;

/** What the reader does with a chart. */
export interface ChartEvents {
  /** The pointer is at this value of the first column, or has left. */
  pointed: (index: number | null) => void;
  /** A stretch was marked by dragging. */
  marked: (range: Range) => void;
}

const COLOURS = ["--series-1", "--series-2", "--series-3", "--series-4"];
/** Solid, dashed, dotted, dash-dot. */
export const DASHES: readonly number[][] = [[], [8, 4], [2, 3], [8, 3, 2, 3]];

const FONT = "12px system-ui, sans-serif";
/** Room for `1000 ms`. */
const Y_AXIS_WIDTH = 62;
/** A shorter drag is a click. */
const DRAG_PIXELS_MIN = 5;

export function chartOptions(
  wish: ChartWish,
  width: number,
  colour: (name: string) => string,
  events: ChartEvents,
): uPlot.Options {
  const ink = colour("--faint");
  const grid = { stroke: colour("--line"), width: 1 };
  const axis = { stroke: ink, grid, ticks: grid, font: FONT, labelFont: FONT };
  const decades = wish.log ? { filter: (_plot: uPlot, values: number[]) => powers(values) } : {};
  const splits = wish.x.splits;
  return {
    width,
    height: wish.height,
    padding: [10, 12, 0, 0],
    cursor: { y: false, drag: { x: true, y: false, setScale: false, dist: DRAG_PIXELS_MIN } },
    legend: { show: false },
    scales: {
      x: { time: false, ...(splits ? { range: () => [splits[0] ?? 0, splits.at(-1) ?? 1] } : {}) },
      y: wish.log ? { distr: 3 } : { range: (_plot, _low, high) => [0, Math.max(high, 1e-9) * 1.1] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        ...(wish.x.label ? { label: wish.x.label, labelSize: 18, labelGap: 0 } : {}),
        ...(splits ? { splits: (_plot, _axis, low, high) => splits.filter((at) => at >= low && at <= high) } : {}),
        values: (_plot, values, _axis, _space, step) => values.map((value) => wish.x.format(value, step)),
      },
      {
        ...axis,
        ...decades,
        grid: { ...grid, ...decades },
        ticks: { ...grid, ...decades },
        size: Y_AXIS_WIDTH,
        values: (_plot, values, _axis, _space, step) =>
          values.map((value) => (value == null ? "" : wish.y.format(value, step))),
      },
    ],
    series: [
      {},
      ...wish.lines.map((line, index) => ({
        label: line.label,
        stroke: colour(COLOURS[index % COLOURS.length] ?? "--ink"),
        width: 2,
        dash: line.dash ?? [],
        points: { show: wish.few ?? false },
      })),
    ],
    hooks: {
      draw: [(plot) => drawMarks(plot, wish.marks ?? [], colour("--bad"))],
      setCursor: [(plot) => events.pointed(plot.cursor.idx ?? null)],
      setSelect: [(plot) => takeMarked(plot, events)],
    },
  };
}

/** Of the ticks of a logarithmic axis the powers of ten, as long as there are two: all the others would be a grey mass. */
export function powers(values: readonly number[]): (number | null)[] {
  const isPower = (value: number) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
  return values.filter(isPower).length > 1 ? values.map((value) => (isPower(value) ? value : null)) : [...values];
}

function drawMarks(plot: uPlot, marks: ChartMark[], colour: string): void {
  const { ctx, bbox } = plot;
  const { min, max } = plot.scales["x"] ?? {};
  ctx.save();
  ctx.fillStyle = colour;
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (const mark of marks) {
    if (mark.x < (min ?? mark.x) || mark.x > (max ?? mark.x)) continue;
    ctx.fillText(mark.sign, plot.valToPos(mark.x, "x", true), bbox.top);
  }
  ctx.restore();
}

function takeMarked(plot: uPlot, events: ChartEvents): void {
  const { left, width } = plot.select;
  if (width < DRAG_PIXELS_MIN) return;
  events.marked([plot.posToVal(left, "x"), plot.posToVal(left + width, "x")]);
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

/** The range after zooming around a place by a factor; `null` where that is all there is. */
export function zoomed(all: Range, now: Range | null, at: number, factor: number): Range | null {
  const [low, high] = now ?? all;
  const size = (high - low) * factor;
  if (size >= all[1] - all[0]) return null;
  const share = high > low ? (at - low) / (high - low) : 0.5;
  const begin = Math.min(Math.max(at - share * size, all[0]), all[1] - size);
  return [begin, begin + size];
}

/** Where a key leads from a value in the first column; `null` for keys that do not walk. */
export function walked(key: string, at: number | null, count: number): number | null {
  const far = Math.max(1, Math.round(count / 10));
  const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageDown: -far, PageUp: far };
  const last = count - 1;
  if (key === "Home") return 0;
  if (key === "End") return last;
  const step = steps[key];
  if (step === undefined) return null;
  if (at === null) return step > 0 ? 0 : last;
  return Math.min(Math.max(at + step, 0), last);
}

/** What the legend says of a line: its value at a place, or between which values it lies. */
export function legend(wish: ChartWish, column: Column, at: number | null): string {
  const say = wish.y.say ?? ((value: number) => wish.y.format(value, 0));
  if (at !== null) {
    const value = column[at];
    return value == null ? UNKNOWN : say(value);
  }
  const known = Array.from(column).filter((value) => value != null);
  if (known.length === 0) return UNKNOWN;
  const [low, high] = known.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  return low === high ? say(low) : t("{from} to {to}", { from: say(low), to: say(high) });
}
