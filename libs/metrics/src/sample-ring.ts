import { HISTORY_MS, SAMPLE_INTERVAL_MS, USAGE_SERIES, type Sample } from './usage.js';

/** The time, then the series. */
const COLUMNS = 1 + USAGE_SERIES.length;
const MAX_SAMPLES = HISTORY_MS / SAMPLE_INTERVAL_MS;
/** 128 TiB, or as much per second. Larger values are stored as this, so that a row has at most 56 bytes. */
const MAX_VALUE = 2 ** 47 - 1;
const MAX_VARINT_BYTES = 7;
const MAX_ROW_BYTES = COLUMNS * MAX_VARINT_BYTES;
const GROWTH_BYTES = 512;
/** Above this, bit operations would truncate a number. */
const MAX_INT32 = 2 ** 31;

type Row = Float64Array;

/**
 * The samples of one instance during about an hour, oldest first, in a few bytes each: every value is stored as the
 * difference from the last known one of its series, as a varint of 7 bits per byte. 0 is a null; any other number is
 * the difference in zigzag encoding, plus 1. The time is the difference from the expected interval.
 */
export class SampleRing {
  private bytes = new Uint8Array(0);
  /** Where the oldest row begins. */
  private start = 0;
  private length = 0;
  private count = 0;
  /** The values from which the oldest and the next row differ. */
  private readonly base: Row = new Float64Array(COLUMNS);
  private readonly last: Row = new Float64Array(COLUMNS);
  /** A bit for each series that is null in the newest row. */
  private lastNulls = 0;

  get size(): number {
    return this.count;
  }

  /** The memory that the samples take, without the overhead of the object itself. */
  get byteLength(): number {
    return this.bytes.byteLength + this.base.byteLength + this.last.byteLength;
  }

  get latest(): Sample | undefined {
    return this.count === 0 ? undefined : toSample(this.last, this.lastNulls);
  }

  /**
   * Adds a sample, and drops those that are older than an hour, or that a clock which was set back has put into the
   * future.
   */
  append(sample: Sample): void {
    const time = Math.round(sample.time);
    if (this.count > 0 && time <= this.last[0]!) this.discardFrom(time);
    if (this.count === MAX_SAMPLES) this.dropOldest();
    this.reserve(MAX_ROW_BYTES);
    this.lastNulls = 0;
    this.write(zigzag(time - this.last[0]! - SAMPLE_INTERVAL_MS));
    this.last[0] = time;
    for (let column = 1; column < COLUMNS; column++) this.writeValue(column, sample[USAGE_SERIES[column - 1]!]);
    this.count++;
    while (this.oldestTime() < time - HISTORY_MS) this.dropOldest();
  }

  samples(): Sample[] {
    const samples: Sample[] = [];
    const row = this.base.slice();
    let at = this.start;
    for (let i = 0; i < this.count; i++) {
      const read = this.readRow(at, row);
      at = read.end;
      samples.push(toSample(row, read.nulls));
    }
    return samples;
  }

  private oldestTime(): number {
    const row = this.base.slice();
    this.readRow(this.start, row);
    return row[0]!;
  }

  private discardFrom(time: number): void {
    const kept = this.samples().filter((sample) => sample.time < time);
    this.start = this.length = this.count = this.lastNulls = 0;
    this.base.fill(0);
    this.last.fill(0);
    for (const sample of kept) this.append(sample);
  }

  private dropOldest(): void {
    const { end } = this.readRow(this.start, this.base);
    this.length -= end >= this.start ? end - this.start : end + this.bytes.length - this.start;
    this.start = end;
    this.count--;
  }

  /** Makes room for more bytes. The rows then begin at the start of the array. */
  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = new Uint8Array(this.length + more + GROWTH_BYTES);
    const head = this.bytes.subarray(this.start, this.start + this.length);
    larger.set(head);
    larger.set(this.bytes.subarray(0, this.length - head.length), head.length);
    this.bytes = larger;
    this.start = 0;
  }

  private writeValue(column: number, value: number | null): void {
    if (value === null || !(value >= 0)) {
      this.lastNulls |= 1 << column;
      this.write(0);
      return;
    }
    const whole = Math.min(Math.round(value), MAX_VALUE);
    this.write(zigzag(whole - this.last[column]!) + 1);
    this.last[column] = whole;
  }

  private write(varint: number): void {
    let rest = varint;
    while (rest >= MAX_INT32) {
      this.push((rest % 128) | 128);
      rest = Math.floor(rest / 128);
    }
    while (rest >= 128) {
      this.push((rest & 127) | 128);
      rest >>>= 7;
    }
    this.push(rest);
  }

  private push(byte: number): void {
    const at = this.start + this.length++;
    this.bytes[at < this.bytes.length ? at : at - this.bytes.length] = byte;
  }

  /** Adds the differences of the row at `from` to the values, which become those of the row. */
  private readRow(from: number, values: Row): { readonly end: number; readonly nulls: number } {
    let at = from;
    let nulls = 0;
    for (let column = 0; column < COLUMNS; column++) {
      let varint = 0;
      let scale = 1;
      let byte: number;
      do {
        byte = this.bytes[at]!;
        if (++at === this.bytes.length) at = 0;
        varint += (byte & 127) * scale;
        scale *= 128;
      } while (byte >= 128);
      if (column === 0) values[0]! += unzigzag(varint) + SAMPLE_INTERVAL_MS;
      else if (varint === 0) nulls |= 1 << column;
      else values[column]! += unzigzag(varint - 1);
    }
    return { end: at, nulls };
  }
}

/** 0, -1, 1, -2, 2, … as 0, 1, 2, 3, 4, …: small differences become small numbers. */
const zigzag = (difference: number): number => (difference >= 0 ? difference * 2 : -difference * 2 - 1);
const unzigzag = (number: number): number => (number % 2 === 0 ? number / 2 : -(number + 1) / 2);

function toSample(row: Row, nulls: number): Sample {
  const value = (column: number): number | null => ((nulls & (1 << column)) === 0 ? row[column]! : null);
  return {
    time: row[0]!,
    cpuMillicores: value(1),
    memoryUsedBytes: value(2),
    memoryTotalBytes: value(3),
    diskReadBytesPerSecond: value(4),
    diskWriteBytesPerSecond: value(5),
    networkReceiveBytesPerSecond: value(6),
    networkTransmitBytesPerSecond: value(7),
  };
}
