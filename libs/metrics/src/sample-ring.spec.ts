import fc from 'fast-check';
import { SampleRing } from './sample-ring.js';
import { HISTORY_MS, SAMPLE_INTERVAL_MS, type Sample } from './usage.js';

const T0 = Date.UTC(2026, 0, 1);
const MAX_SAMPLES = 240;
const MAX_VALUE = 2 ** 47 - 1;
const SERIES_AND_TIME = 8;
const KIB = 1024;

const EMPTY: Omit<Sample, 'time'> = {
  cpuMillicores: null,
  memoryUsedBytes: null,
  memoryTotalBytes: null,
  diskReadBytesPerSecond: null,
  diskWriteBytesPerSecond: null,
  networkReceiveBytesPerSecond: null,
  networkTransmitBytesPerSecond: null,
};
const SERIES = Object.keys(EMPTY) as (keyof typeof EMPTY)[];

const value = fc.oneof(
  fc.constant(null),
  fc.nat(4000),
  fc.nat(2 ** 31 - 1),
  fc.maxSafeNat().map((number) => number % (MAX_VALUE + 1)),
  fc.constantFrom(0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32, MAX_VALUE),
);
const values = fc.record(
  Object.fromEntries(SERIES.map((name) => [name, value])) as Record<keyof typeof EMPTY, typeof value>,
);
/** Mostly the interval with some jitter, sometimes a gap. */
const gap = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: SAMPLE_INTERVAL_MS - 200, max: SAMPLE_INTERVAL_MS + 200 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 * HISTORY_MS }) },
);

const filled = (samples: readonly Sample[]): SampleRing => {
  const ring = new SampleRing();
  for (const sample of samples) ring.append(sample);
  return ring;
};

/** Samples with ascending times. */
const ascending = fc.array(fc.tuple(gap, values), { maxLength: 400 }).map((rows) => {
  let time = T0;
  return rows.map(([ms, row]): Sample => ({ time: (time += ms), ...row }));
});

describe('SampleRing', () => {
  test('returns the samples of the last hour exactly as they were added, nulls included', () => {
    fc.assert(
      fc.property(ascending, (samples) => {
        const ring = filled(samples);
        const newest = samples.at(-1);
        const expected = samples.slice(-MAX_SAMPLES).filter(({ time }) => newest!.time - time <= HISTORY_MS);
        expect(ring.samples()).toEqual(expected);
        expect(ring.latest).toEqual(newest);
        expect(ring.size).toBe(expected.length);
      }),
      { numRuns: 200 },
    );
  });

  test('keeps ascending times through every jump of the clock, and the sample that was added last', () => {
    const jumps = fc.array(fc.tuple(fc.integer({ min: -2 * HISTORY_MS, max: 2 * HISTORY_MS }), values), {
      maxLength: 100,
    });
    fc.assert(
      fc.property(jumps, (rows) => {
        let time = T0;
        const ring = new SampleRing();
        const added: Sample[] = [];
        for (const [ms, row] of rows) {
          const sample = { time: (time += ms), ...row };
          added.push(sample);
          ring.append(sample);
          const times = ring.samples().map((kept) => kept.time);
          expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
          expect(ring.samples().at(-1)).toEqual(sample);
        }
        for (const kept of ring.samples()) expect(added).toContainEqual(kept);
      }),
      { numRuns: 100 },
    );
  });

  test('takes less than 2 KiB per series, whatever the values are', () => {
    const ring = new SampleRing();
    for (let i = 0; i < 3 * MAX_SAMPLES; i++) {
      const extreme = i % 2 === 0 ? 0 : MAX_VALUE;
      const row = Object.fromEntries(SERIES.map((name) => [name, extreme])) as unknown as typeof EMPTY;
      ring.append({ time: T0 + i * (SAMPLE_INTERVAL_MS - (i % 2)), ...row });
    }
    expect(ring.size).toBe(MAX_SAMPLES);
    expect(ring.byteLength / SERIES_AND_TIME).toBeLessThan(2 * KIB);
  });

  test('stores a value that is out of range as the largest one, and one that is no amount as null', () => {
    const ring = filled([
      {
        time: T0,
        ...EMPTY,
        cpuMillicores: Number.NaN,
        memoryUsedBytes: -1,
        memoryTotalBytes: Number.POSITIVE_INFINITY,
      },
      { time: T0 + 1, ...EMPTY, cpuMillicores: 2 ** 60, memoryUsedBytes: 0.4, memoryTotalBytes: 7.6 },
    ]);
    expect(ring.samples()).toEqual([
      { time: T0, ...EMPTY, memoryTotalBytes: MAX_VALUE },
      { time: T0 + 1, ...EMPTY, cpuMillicores: MAX_VALUE, memoryUsedBytes: 0, memoryTotalBytes: 8 },
    ]);
  });

  test('is empty at first', () => {
    expect(new SampleRing().samples()).toEqual([]);
    expect(new SampleRing().latest).toBeUndefined();
  });
});
