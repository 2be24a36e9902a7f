import { timeTicks } from './time-ticks.js';

const HOUR_MS = 3_600_000;
const texts = (ticks: readonly number[]): string[] => ticks.map((tick) => new Date(tick).toISOString().slice(5, 16));

describe('the times below a chart', () => {
  test('are round, and keep their distance to the end', () => {
    const from = Date.parse('2026-03-04T16:30:00Z');
    expect(texts(timeTicks(from, from + 24 * HOUR_MS, 240, () => 0))).toEqual([
      '03-04T20:00',
      '03-05T00:00',
      '03-05T04:00',
      '03-05T08:00',
      '03-05T12:00',
    ]);
  });

  test('are round in the time zone of the browser', () => {
    const from = Date.parse('2026-03-04T16:30:00Z');
    expect(texts(timeTicks(from, from + 24 * HOUR_MS, 240, () => -330))).toEqual([
      '03-04T18:30',
      '03-04T22:30',
      '03-05T02:30',
      '03-05T06:30',
      '03-05T10:30',
    ]);
  });

  test('stay at midnight when the clock changes', () => {
    const change = Date.parse('2026-03-29T01:00:00Z');
    const from = Date.parse('2026-03-27T10:00:00Z');
    const offset = (time: number): number => (time < change ? -60 : -120);
    expect(texts(timeTicks(from, from + 100 * HOUR_MS, 1440, offset))).toEqual([
      '03-27T23:00',
      '03-28T23:00',
      '03-29T22:00',
      '03-30T22:00',
    ]);
  });
});
