import { keep, type KeepPolicy } from './keep.js';

const at = (...times: string[]) => times.map((time) => ({ time }));

const kept = (times: string[], policy: KeepPolicy, timeZone = 'UTC', now?: number) =>
  keep(at(...times), policy, timeZone, now === undefined ? {} : { now })
    .filter(({ reasons }) => reasons.length > 0)
    .map(({ snapshot, reasons }) => `${snapshot.time} ${reasons.join(',')}`);

describe('keep', () => {
  test('keeps the last one of each day, and the oldest while counts are left', () => {
    const times = ['2026-01-01T10:00:00Z', '2026-01-01T12:00:00Z', '2026-01-02T01:00:00Z', '2026-01-03T01:00:00Z'];
    expect(kept(times, { daily: 2 })).toEqual(['2026-01-03T01:00:00Z daily', '2026-01-02T01:00:00Z daily']);
    expect(kept(times, { daily: 9 })).toEqual([
      '2026-01-03T01:00:00Z daily',
      '2026-01-02T01:00:00Z daily',
      '2026-01-01T12:00:00Z daily',
      '2026-01-01T10:00:00Z daily',
    ]);
  });

  test('decides days in the time zone, also when clocks change', () => {
    const times = ['2026-03-28T23:30:00Z', '2026-03-29T21:30:00Z', '2026-03-29T22:30:00Z'];
    const daily = ['2026-03-29T22:30:00Z daily', '2026-03-29T21:30:00Z daily'];
    expect(kept(times, { daily: 2 }, 'Europe/Berlin')).toEqual(daily);
    expect(kept(times, { daily: 1 }, 'UTC')).toEqual(['2026-03-29T22:30:00Z daily']);
    // 02:30 happens twice in the night when summer time ends; both are the same hour, as in restic.
    const twice = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-25T05:00:00Z'];
    expect(kept(twice, { hourly: 2 }, 'Europe/Berlin')).toEqual([
      '2026-10-25T05:00:00Z hourly',
      '2026-10-25T01:30:00Z hourly',
    ]);
  });

  test('has ISO weeks, which belong to the year of their Thursday', () => {
    const times = ['2024-12-29T12:00:00Z', '2024-12-30T12:00:00Z', '2025-01-05T12:00:00Z', '2025-01-06T12:00:00Z'];
    expect(kept(times, { weekly: 2 })).toEqual(['2025-01-06T12:00:00Z weekly', '2025-01-05T12:00:00Z weekly']);
    expect(kept(['2021-01-03T12:00:00Z', '2020-12-28T12:00:00Z', '2020-12-27T12:00:00Z'], { weekly: 1 })).toEqual([
      '2021-01-03T12:00:00Z weekly',
    ]);
  });

  test('names all reasons of a snapshot', () => {
    expect(kept(['2026-01-01T00:00:00Z'], { last: 1, hourly: 1, daily: 1, weekly: 1, monthly: 1, yearly: 1 })).toEqual([
      '2026-01-01T00:00:00Z last,hourly,daily,weekly,monthly,yearly',
    ]);
  });

  test('keeps all without a rule and with -1, and nothing of an empty list', () => {
    const times = ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'];
    expect(kept(times, {})).toEqual(times.map((time) => `${time} empty policy`));
    expect(kept(times, { last: 0 })).toHaveLength(2);
    expect(kept(times, { last: -1 })).toEqual(times.map((time) => `${time} last`));
    expect(kept([], { last: 1 })).toEqual([]);
  });

  test('keeps snapshots from a clock that was ahead, and does not count them', () => {
    const now = Date.parse('2026-01-03T00:00:00Z');
    const times = ['2031-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'];
    expect(kept(times, { last: 1 }, 'UTC', now)).toEqual(['2031-01-01T00:00:00Z future', '2026-01-02T00:00:00Z last']);
    expect(kept(times, { last: 1 })).toEqual(['2031-01-01T00:00:00Z last']);
  });

  test.each([{ daily: -2 }, { last: 1.5 }, { weekly: Number.NaN }])('refuses %j', (policy) => {
    expect(() => kept(['2026-01-01T00:00:00Z'], policy)).toThrow(RangeError);
  });
});
