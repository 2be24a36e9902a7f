import 'reflect-metadata';
import type { ActivityCount, ActivitySpans, FleetAuditLog } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { ReadActivity } from './read-activity.js';

const MINUTE_MS = 60_000;

describe('ReadActivity', () => {
  let clock: FixedClock;
  /** The times of the entries. */
  let entries: number[];
  let asked: ActivitySpans[];
  let activity: ReadActivity;

  beforeEach(() => {
    clock = new FixedClock();
    clock.advance(10 * MINUTE_MS - (clock.now() % (10 * MINUTE_MS)));
    entries = [];
    asked = [];
    const countActions = (query: ActivitySpans): ActivityCount[] => {
      asked.push(query);
      const bySpan = new Map<number, number>();
      for (const time of entries.filter((one) => one >= query.since)) {
        const span = Math.floor((time - query.since) / query.spanMs);
        bySpan.set(span, (bySpan.get(span) ?? 0) + 1);
      }
      return [...bySpan].map(([span, users]) => ({ span, users, tokens: 0, failed: 0 }));
    };
    activity = new ReadActivity({ countActions } as unknown as FleetAuditLog, clock);
  });

  const act = (): void => void entries.push(clock.now());
  const users = (): number[] => activity.read('24h').counts.map((count) => count.users);

  test('counts spans that are over once, and leaves them out when the range has passed them', () => {
    act();
    act();
    expect(users()).toEqual([2]);
    clock.advance(10 * MINUTE_MS);
    act();
    expect(users()).toEqual([2, 1]);
    act();
    expect(users()).toEqual([2, 2]);
    expect(asked.at(-1)?.since).toBe(clock.now());
    clock.advance(143 * 10 * MINUTE_MS);
    expect(users()).toEqual([2]);
    clock.advance(10 * MINUTE_MS);
    expect(users()).toEqual([]);
  });

  test('counts all entries since the last time, however long ago that was', () => {
    expect(users()).toEqual([]);
    act();
    clock.advance(30 * MINUTE_MS);
    act();
    clock.advance(30 * MINUTE_MS);
    expect(users()).toEqual([1, 1]);
  });

  test('counts everything again after the clock was set back', () => {
    act();
    clock.advance(60 * MINUTE_MS);
    act();
    expect(users()).toEqual([1, 1]);
    clock.advance(-50 * MINUTE_MS);
    act();
    expect(users()).toEqual([1, 1]);
    clock.advance(50 * MINUTE_MS);
    expect(users()).toEqual([1, 1, 1]);
  });
});
