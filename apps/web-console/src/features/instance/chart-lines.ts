/** One line of a chart; null where there is no value. */
export interface ChartSeries {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

/** A longer time between two samples interrupts the line. */
const MAX_GAP_MS = 60_000;

/** The area that the lines are drawn in: the time from left to right, the values from the bottom to the top. */
export interface ChartArea {
  readonly width: number;
  readonly height: number;
  readonly from: number;
  readonly to: number;
  readonly max: number;
}

/**
 * The commands of an SVG path: a line through the values, interrupted where a value is unknown or samples are missing.
 */
export function linePath(times: readonly number[], values: readonly (number | null)[], area: ChartArea): string {
  const { width, height, from, to, max } = area;
  let path = '';
  let last: number | undefined;
  times.forEach((time, index) => {
    const value = values[index] ?? null;
    if (value === null || time < from) {
      last = undefined;
      return;
    }
    const isConnected = last !== undefined && time - last <= MAX_GAP_MS;
    const x = ((time - from) / (to - from)) * width;
    const y = height - (Math.min(value, max) / max) * height;
    path += `${isConnected ? 'L' : 'M'}${rounded(x)} ${rounded(y)}`;
    // A single point is drawn as a dot.
    if (!isConnected) path += 'h0';
    last = time;
  });
  return path;
}

const rounded = (value: number): number => Math.round(value * 10) / 10;

/** The largest value of all lines, or the given one if that is larger. Never zero. */
export function largestValue(series: readonly ChartSeries[], atLeast: number): number {
  let largest = Math.max(atLeast, 1);
  for (const { values } of series) for (const value of values) if (value !== null && value > largest) largest = value;
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
