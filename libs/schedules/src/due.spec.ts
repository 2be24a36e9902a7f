import { GRACE_MS, ScheduleTimes, type Timing } from './due.js';

const timing = (more: Partial<Timing> = {}): Timing => ({
  id: 'one',
  cron: '0 * * * *',
  timeZone: 'UTC',
  jitterSeconds: 0,
  missed: 'skip',
  ...more,
});
const at = (text: string): number => Date.parse(`2026-01-01T${text}Z`);
const dueAt = (after: string, now: string, more: Partial<Timing> = {}) =>
  new ScheduleTimes(timing(more)).due(at(after), at(now));

describe('the due time', () => {
  test('is the planned time that has come, and nothing before', () => {
    expect(dueAt('00:00:00', '00:59:59.999')).toBeUndefined();
    expect(dueAt('00:00:00', '01:00:00')).toEqual({
      planned: at('01:00:00'),
      runs: true,
      isLate: false,
      missedBefore: 0,
    });
    expect(dueAt('01:00:00', '01:00:00')).toBeUndefined();
  });

  test.each(['skip', 'once'] as const)('runs after a short delay: %s', (missed) => {
    const latest = new Date(at('01:00:00') + GRACE_MS).toISOString().slice(11, 19);
    expect(dueAt('00:00:00', latest, { missed })).toMatchObject({ runs: true, isLate: false });
  });

  test('is one run after an outage with the policy once, and none with skip', () => {
    const late = { planned: at('05:00:00'), isLate: true, missedBefore: 4 };
    expect(dueAt('00:00:00', '05:30:00', { missed: 'once' })).toEqual({ ...late, runs: true });
    expect(dueAt('00:00:00', '05:30:00', { missed: 'skip' })).toEqual({ ...late, runs: false });
  });

  test('is the last time only, if the service comes back at it', () => {
    expect(dueAt('00:00:00', '05:00:10')).toEqual({
      planned: at('05:00:00'),
      runs: true,
      isLate: false,
      missedBefore: 4,
    });
  });

  test('is never a time that was considered before, also when the clock was set back', () => {
    const times = new ScheduleTimes(timing());
    for (const now of ['00:30:00', '01:59:00', '02:00:00']) expect(times.due(at('02:00:00'), at(now))).toBeUndefined();
    expect(times.next(at('02:00:00'))?.planned).toBe(at('03:00:00'));
  });
});

describe('jitter', () => {
  test('delays every run of a schedule by the same time, and those of other schedules by another', () => {
    const jitterOf = (id: string): number => new ScheduleTimes(timing({ id, jitterSeconds: 600 })).jitter;
    const jitters = Array.from({ length: 50 }, (_none, index) => jitterOf(`schedule-${index}`));
    expect(jitters).toEqual(Array.from({ length: 50 }, (_none, index) => jitterOf(`schedule-${index}`)));
    expect(new Set(jitters).size).toBeGreaterThan(40);
    expect(Math.max(...jitters)).toBeLessThanOrEqual(600_000);
    expect(new ScheduleTimes(timing()).jitter).toBe(0);
  });

  test('is part of the time at which a run begins, not of its planned time', () => {
    const times = new ScheduleTimes(timing({ jitterSeconds: 600 }));
    expect(times.next(at('00:00:00'))).toEqual({ planned: at('01:00:00'), begins: at('01:00:00') + times.jitter });
    const begins = at('01:00:00') + times.jitter;
    expect(times.due(at('00:00:00'), begins - 1)).toBeUndefined();
    expect(times.due(at('00:00:00'), begins)).toMatchObject({ planned: at('01:00:00'), runs: true });
  });
});
