import { USAGE_SERIES, type Usage } from '../usage.js';
import { fromCompact, toCompact } from './compact-number.js';

const SERIES_COUNT = USAGE_SERIES.length;
/** The averages of all series, then their maxima. */
export const ROW_VALUES = 2 * SERIES_COUNT;
/** The values, the number of samples and a check. */
export const ROW_BYTES = ROW_VALUES * 2 + 2;
const MAX_COUNT = 255;

/** The usage of one instance during one step. Unknown values are NaN. */
export interface HistoryRow {
  /** When the step began, in milliseconds since the epoch. */
  readonly time: number;
  /** The number of samples, at least 1. */
  readonly count: number;
  readonly values: readonly number[];
}

/** Writes a sample as a row of its own, whose values are both the averages and the maxima. */
export function writeSample(target: number[], usage: Usage): void {
  USAGE_SERIES.forEach((series, index) => {
    target[index] = target[index + SERIES_COUNT] = usage[series] ?? NaN;
  });
}

export const unknownValues = (): number[] => new Array<number>(ROW_VALUES).fill(NaN);

export const averageOf = ({ values }: Pick<HistoryRow, 'values'>): Usage => usageFrom(values, 0);
export const maximumOf = ({ values }: Pick<HistoryRow, 'values'>): Usage => usageFrom(values, SERIES_COUNT);

export function writeRow(target: Buffer, offset: number, { count, values }: Omit<HistoryRow, 'time'>): void {
  for (let index = 0; index < ROW_VALUES; index++) target.writeUInt16LE(toCompact(values[index]!), offset + index * 2);
  target[offset + ROW_BYTES - 2] = Math.min(count, MAX_COUNT);
  target[offset + ROW_BYTES - 1] = checkOf(target, offset);
}

/** Undefined for a row without samples, such as zeros after a loss of power, and for one that is damaged. */
export function parseRow(source: Buffer, offset: number, time: number): HistoryRow | undefined {
  const count = source[offset + ROW_BYTES - 2]!;
  if (count === 0 || source[offset + ROW_BYTES - 1] !== checkOf(source, offset)) return undefined;
  const values = unknownValues();
  for (let index = 0; index < ROW_VALUES; index++) values[index] = fromCompact(source.readUInt16LE(offset + index * 2));
  return { time, count, values };
}

function checkOf(bytes: Buffer, offset: number): number {
  let check = 1;
  for (let at = offset; at < offset + ROW_BYTES - 1; at++) check = (check * 31 + bytes[at]!) & 0xff;
  return check;
}

function usageFrom(values: readonly number[], offset: number): Usage {
  const at = (index: number): number | null => {
    const value = values[offset + index]!;
    return Number.isNaN(value) ? null : Math.round(value);
  };
  return {
    cpuMillicores: at(0),
    memoryUsedBytes: at(1),
    memoryTotalBytes: at(2),
    diskReadBytesPerSecond: at(3),
    diskWriteBytesPerSecond: at(4),
    networkReceiveBytesPerSecond: at(5),
    networkTransmitBytesPerSecond: at(6),
  };
}
