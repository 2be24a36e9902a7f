import { DigestTimes } from './digest-times.js';

const BERLIN = 'Europe/Berlin';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('DigestTimes', () => {
  const times = new DigestTimes();
  /** All digests between two moments, as a round every 15 minutes finds them. */
  const all = (at: string, since: string, until: string): string[] => {
    const found: string[] = [];
    let after = Date.parse(since);
    for (let now = after; now <= Date.parse(until); now += HOUR_MS / 4) {
      const due = times.lastDigest(at, BERLIN, after, now);
      if (due === undefined) continue;
      found.push(new Date(due).toISOString());
      after = due;
    }
    return found;
  };

  test('a digest in the hour that a day skips is later on that day', () => {
    expect(all('02:30', '2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z')).toEqual([
      '2026-03-29T01:30:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
  });

  test('a digest in the hour that a day repeats is sent once', () => {
    expect(all('02:30', '2026-10-24T12:00:00Z', '2026-10-26T12:00:00Z')).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
  });

  test('several missed days have one digest, the last one', () => {
    const now = Date.parse('2026-06-10T12:00:00Z');
    expect(times.lastDigest('07:00', BERLIN, now - 5 * DAY_MS, now)).toBe(Date.parse('2026-06-10T05:00:00Z'));
  });

  test('a clock that was set back finds none that was sent', () => {
    const now = Date.parse('2026-06-10T12:00:00Z');
    expect(times.lastDigest('07:00', BERLIN, now, now - DAY_MS)).toBeUndefined();
  });

  test('refuses an unknown time zone, and names the field', () => {
    expect(() => times.nextDigest('07:00', 'Mars/Olympus', 0)).toThrow(/timeZone/);
  });
});
