/** One line of a chart; null where there is no value. */
export interface ChartSeries {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** The largest values of the steps whose averages are the values. */
  readonly maxima?: readonly (number | null)[];
}

/** A longer time between two samples interrupts the line, unless the chart has its own. */
const MAX_GAP_MS = 60_000;

/** The area that the lines are drawn in: the time from left to right, the values from the bottom to the top. */
export interface ChartArea {
  readonly width: number;
  readonly height: number;
  readonly from: number;
  readonly to: number;
  readonly max: number;
  /** A longer time between two values interrupts the line. A minute by default. */
  readonly maxGapMs?: number;
}

/**
 * The commands of an SVG path: a line through the values, interrupted where a value is unknown or samples are missing.
 */
export function linePath(times: readonly number[], values: readonly (number | null)[], area: ChartArea): string {
  return runs(times, area, (index) => values[index] ?? null)
    .map((run) => {
      const [first = '', ...others] = run.map(({ time, value }) => position(time, value, area));
      // A single point is drawn as a dot.
      return `M${first}h0${others.map((point) => `L${point}`).join('')}`;
    })
    .join('');
}

/** The commands of a closed SVG path: the area between two lines, interrupted like each of them. */
export function bandPath(
  times: readonly number[],
  lower: readonly (number | null)[],
  upper: readonly (number | null)[],
  area: ChartArea,
): string {
  const both = (index: number) => {
    const [low = null, high = null] = [lower[index], upper[index]];
    return low === null || high === null ? null : { low, high };
  };
  return runs(times, area, both)
    .map((run) => {
      const top = run.map(({ time, value }) => position(time, value.high, area));
      const bottom = run.toReversed().map(({ time, value }) => position(time, value.low, area));
      return `M${[...top, ...bottom].join('L')}Z`;
    })
    .join('');
}

interface Point<T> {
  readonly time: number;
  readonly value: T;
}

/** The values without interruption, each with its time. */
function runs<T>(times: readonly number[], area: ChartArea, valueAt: (index: number) => T | null): Point<T>[][] {
  const { from, maxGapMs = MAX_GAP_MS } = area;
  const found: Point<T>[][] = [];
  let run: Point<T>[] | undefined;
  times.forEach((time, index) => {
    const value = valueAt(index);
    if (value === null || time < from) {
      run = undefined;
      return;
    }
    if (!run || time - run.at(-1)!.time > maxGapMs) found.push((run = []));
    run.push({ time, value });
  });
  return found;
}

function position(time: number, value: number, { width, height, from, to, max }: ChartArea): string {
  const x = ((time - from) / (to - from)) * width;
  const y = height - (Math.min(value, max) / max) * height;
  return `${rounded(x)} ${rounded(y)}`;
}

const rounded = (value: number): number => Math.round(value * 10) / 10;

/** The largest value of all lines, or the given one if that is larger. Never zero. */
export function largestValue(series: readonly ChartSeries[], atLeast: number): number {
  let largest = Math.max(atLeast, 1);
  for (const { values, maxima = [] } of series)
    for (const value of [...values, ...maxima]) if (value !== null && value > largest) largest = value;
  return largest;
}

/** The index of the sample that is nearest to a time. */
export function nearestSample(times: readonly number[], time: number): number {
  let nearest = 0;
  times.forEach((one, index) => {
    if (Math.abs(one - time) < Math.abs((times[nearest] ?? 0) - time)) nearest = index;
  });
  return nearest;
}

export const hasValues = (series: readonly ChartSeries[]): boolean =>
  series.some(({ values }) => values.some((value) => value !== null));
