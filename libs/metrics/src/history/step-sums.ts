import { USAGE_SERIES } from '../usage.js';
import { unknownValues, type HistoryRow } from './history-row.js';
import { floorTo } from './levels.js';

const SERIES_COUNT = USAGE_SERIES.length;
const MIN_CAPACITY = 16;

/** The sums and maxima of one step, of all instances, in typed arrays: about 100 bytes for each, and its key. */
export class StepSums {
  private readonly slots = new Map<string, number>();
  private sums = new Float64Array(0);
  private maxima = new Float32Array(0);
  /** How many samples a series has, because some have unknown values. */
  private counts = new Uint16Array(0);
  private rows = new Uint16Array(0);

  /** @param time when the step began, in milliseconds since the epoch */
  constructor(readonly time: number) {}

  get size(): number {
    return this.slots.size;
  }

  keys(): IterableIterator<string> {
    return this.slots.keys();
  }

  /** Adds the averages and maxima of `count` samples. */
  add(key: string, { count, values }: Omit<HistoryRow, 'time'>): void {
    const slot = this.slotOf(key);
    this.rows[slot]! += count;
    for (let series = 0; series < SERIES_COUNT; series++) {
      const average = values[series]!;
      if (Number.isNaN(average)) continue;
      const at = slot * SERIES_COUNT + series;
      this.sums[at]! += average * count;
      this.counts[at]! += count;
      this.maxima[at] = Math.max(this.maxima[at]!, values[series + SERIES_COUNT]!);
    }
  }

  row(key: string): HistoryRow | undefined {
    const slot = this.slots.get(key);
    if (slot === undefined) return undefined;
    const values = unknownValues();
    for (let series = 0; series < SERIES_COUNT; series++) {
      const at = slot * SERIES_COUNT + series;
      if (this.counts[at] === 0) continue;
      values[series] = this.sums[at]! / this.counts[at]!;
      values[series + SERIES_COUNT] = this.maxima[at]!;
    }
    return { time: this.time, count: this.rows[slot]!, values };
  }

  private slotOf(key: string): number {
    const known = this.slots.get(key);
    if (known !== undefined) return known;
    const slot = this.slots.size;
    this.slots.set(key, slot);
    if (slot >= this.rows.length) this.grow(Math.max(MIN_CAPACITY, slot * 2));
    return slot;
  }

  private grow(capacity: number): void {
    const { sums, maxima, counts, rows } = this;
    this.sums = new Float64Array(capacity * SERIES_COUNT);
    this.maxima = new Float32Array(capacity * SERIES_COUNT);
    this.counts = new Uint16Array(capacity * SERIES_COUNT);
    this.rows = new Uint16Array(capacity);
    this.sums.set(sums);
    this.maxima.set(maxima);
    this.counts.set(counts);
    this.rows.set(rows);
  }
}

/** Rows of the same step, which a restart or a clock that was set back has divided, as one; oldest first. */
export function mergeRows(rows: readonly HistoryRow[], stepMs: number): HistoryRow[] {
  const steps = new Map<number, HistoryRow[]>();
  for (const row of rows) {
    const time = floorTo(row.time, stepMs);
    const same = steps.get(time);
    if (same) same.push(row);
    else steps.set(time, [row]);
  }
  return [...steps]
    .toSorted(([a], [b]) => a - b)
    .map(([time, same]) => {
      if (same.length === 1) return { ...same[0]!, time };
      const sums = new StepSums(time);
      for (const row of same) sums.add('', row);
      return sums.row('')!;
    });
}
