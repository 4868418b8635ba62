// How charts look, in one place: uPlot's options from the little that differs between ours.
import type uPlot from "uplot";

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

export interface ChartWish {
  height: number;
  lines: ChartLine[];
  /** So few values that a line alone might not be seen. */
  few?: boolean;
  /** Powers of ten on the upright axis. */
  log: boolean;
  x: { format: (value: number) => string; splits?: number[] };
  y: { format: (value: number) => string };
  marks?: ChartMark[];
  /** Charts with the same name share their cursor. */
  together?: string;
}

const COLOURS = ["--series-1", "--series-2", "--series-3", "--series-4"];
/** Solid, dashed, dotted, dash-dot. */
export const DASHES: readonly number[][] = [[], [8, 4], [2, 3], [8, 3, 2, 3]];

const FONT = "12px system-ui, sans-serif";
/** Room for `1000 ms`. */
const Y_AXIS_WIDTH = 62;

export function chartOptions(wish: ChartWish, width: number, colour: (name: string) => string): uPlot.Options {
  const ink = colour("--faint");
  const grid = { stroke: colour("--line"), width: 1 };
  const axis = { stroke: ink, grid, ticks: grid, font: FONT };
  const splits = wish.x.splits;
  return {
    width,
    height: wish.height,
    padding: [10, 12, 0, 0],
    cursor: {
      drag: { x: false, y: false },
      ...(wish.together ? { sync: { key: wish.together } } : {}),
    },
    legend: { show: false },
    scales: {
      x: { time: false, ...(splits ? { range: () => [splits[0] ?? 0, splits.at(-1) ?? 1] } : {}) },
      y: wish.log ? { distr: 3 } : { range: (_plot, _low, high) => [0, Math.max(high, 1e-9) * 1.1] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        ...(splits ? { splits: () => splits } : {}),
        values: (_plot, values) => values.map((value) => wish.x.format(value)),
      },
      {
        ...axis,
        size: Y_AXIS_WIDTH,
        values: (_plot, values) => values.map((value) => (value == null ? "" : wish.y.format(value))),
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
    hooks: { draw: [(plot) => drawMarks(plot, wish.marks ?? [], colour("--bad"))] },
  };
}

function drawMarks(plot: uPlot, marks: ChartMark[], colour: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.fillStyle = colour;
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (const mark of marks) {
    ctx.fillText(mark.sign, plot.valToPos(mark.x, "x", true), bbox.top);
  }
  ctx.restore();
}
