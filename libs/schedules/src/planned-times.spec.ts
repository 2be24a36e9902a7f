import { WallClock } from './wall-clock.js';
import { PlannedTimes } from './planned-times.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const planned = (cron: string, timeZone: string, from: string, count: number): string[] =>
  new PlannedTimes({ cron, timeZone })
    .next(count, Date.parse(from))
    .map((time) => new Date(time).toISOString().slice(0, 16));

describe('the planned times of a cron expression', () => {
  test('are in the time zone', () => {
    expect(planned('30 2 * * 1-5', 'Europe/Berlin', '2026-01-02T12:00:00Z', 2)).toEqual([
      '2026-01-05T01:30',
      '2026-01-06T01:30',
    ]);
    expect(planned('@daily', 'Asia/Kolkata', '2026-01-02T12:00:00Z', 1)).toEqual(['2026-01-02T18:30']);
    expect(planned('  0   0 29 2 * ', 'UTC', '2026-01-02T12:00:00Z', 1)).toEqual(['2028-02-29T00:00']);
  });

  test('never contain the given time', () => {
    expect(planned('0 0 * * *', 'UTC', '2026-01-02T00:00:00Z', 1)).toEqual(['2026-01-03T00:00']);
    expect(planned('0 0 * * *', 'UTC', '2026-01-01T23:59:59.999Z', 1)).toEqual(['2026-01-02T00:00']);
  });

  test('are an hour later on the day that skips them, and once if another one is planned then', () => {
    expect(planned('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:30',
      '2026-03-30T00:30',
    ]);
    expect(planned('0 * * * *', 'Europe/Berlin', '2026-03-28T23:30:00Z', 4)).toEqual([
      '2026-03-29T00:00',
      '2026-03-29T01:00',
      '2026-03-29T02:00',
      '2026-03-29T03:00',
    ]);
    // The clocks of Apia skipped a whole day.
    expect(planned('0 0 * * *', 'Pacific/Apia', '2011-12-28T12:00:00Z', 3)).toEqual([
      '2011-12-29T10:00',
      '2011-12-30T10:00',
      '2011-12-31T10:00',
    ]);
  });

  test('are once in an hour that occurs twice, whenever one asks', () => {
    expect(planned('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ]);
    for (const from of ['2026-10-25T00:30:00Z', '2026-10-25T00:59:00Z', '2026-10-25T01:10:00Z'])
      expect(planned('30 2 * * *', 'Europe/Berlin', from, 1)).toEqual(['2026-10-26T01:30']);
    expect(planned('0 * * * *', 'Europe/Berlin', '2026-10-24T23:30:00Z', 3)).toEqual([
      '2026-10-25T00:00',
      '2026-10-25T02:00',
      '2026-10-25T03:00',
    ]);
    // Half an hour, on Lord Howe Island.
    expect(planned('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T15:00:00Z', 1)).toEqual(['2026-04-05T15:15']);
  });

  test.each([
    ['0 0 30 2 *', 'UTC', /^cron: "0 0 30 2 \*" never matches: there is no such day\.$/],
    ['0 0 31 4,6,9,11 *', 'UTC', /never matches/],
    ['* * * * * *', 'UTC', /must have 5 fields/],
    ['* * * *', 'UTC', /must have 5 fields/],
    ['', 'UTC', /must have 5 fields/],
    ['@reboot', 'UTC', /must have 5 fields/],
    ['@every_second', 'UTC', /must have 5 fields/],
    ['2026-01-01T00:00:00Z', 'UTC', /must have 5 fields/],
    ['60 * * * *', 'UTC', /can't be read/],
    ['* 24 * * *', 'UTC', /can't be read/],
    ['*/0 * * * *', 'UTC', /can't be read/],
    ['5-1 * * * *', 'UTC', /can't be read/],
    ['a b c d e', 'UTC', /can't be read/],
    [`${'1,'.repeat(200)}1 * * * *`, 'UTC', /longer than 200/],
    ['0 0 * * *', 'Mars/Olympus', /^timeZone: "Mars\/Olympus" is no time zone; use a name such as/],
    ['0 0 * * *', '+02:00', /is no time zone/],
    ['0 0 * * *', '', /is no time zone/],
    ['0 0 * * *', '../../etc/localtime', /is no time zone/],
  ])('of %j in %j are refused with a sentence', (cron, timeZone, message) => {
    expect(() => new PlannedTimes({ cron, timeZone })).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', message: expect.stringMatching(message) }),
    );
  });

  test('the last one before a time is the one that a list of all of them ends with', () => {
    const minutely = new PlannedTimes({ cron: '* * * * *', timeZone: 'UTC' });
    const since = Date.parse('2020-01-01T00:00:00Z');
    const until = Date.parse('2026-01-01T00:00:30Z');
    expect(minutely.last(since, until)).toBe(until - 30_000);
    expect(minutely.count(since, until, 1000)).toBe(1000);
    expect(minutely.last(until - 30_000, until)).toBeUndefined();
    const yearly = new PlannedTimes({ cron: '@yearly', timeZone: 'UTC' });
    expect(yearly.last(since, until)).toBe(Date.parse('2026-01-01T00:00:00Z'));
    expect([yearly.count(since, until, 1000), yearly.count(until, since, 1000)]).toEqual([6, 0]);
    const leap = new PlannedTimes({ cron: '0 0 29 2 *', timeZone: 'UTC' });
    expect(leap.last(since, until)).toBe(Date.parse('2024-02-29T00:00:00Z'));
  });
});

/** Every minute that the wall clocks show, in their order, at the time when they show it first. */
function* wallMinutes(wall: WallClock, from: number, until: number): Generator<{ local: Date; time: number }> {
  let known = -Infinity;
  for (let time = from; time < until; time += MINUTE_MS) {
    const local = time + wall.offsetAt(time);
    // Those that the clocks have skipped come as much later as was skipped.
    if (known > -Infinity)
      for (let skipped = known + MINUTE_MS; skipped < local; skipped += MINUTE_MS)
        yield { local: new Date(skipped), time: time + skipped - known - MINUTE_MS };
    if (local > known) yield { local: new Date(local), time };
    known = Math.max(known, local);
  }
}

describe('compared with every minute of a clock', () => {
  const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/St_Johns', 'Africa/Cairo'];
  const MINUTES = [
    [0, 30],
    [7, 15, 45, 59],
  ];
  const HOURS = [[0, 1, 2, 3, 4, 22, 23], [2], [23]];

  test.each(ZONES)('the times on days of %s with 23 and 25 hours are the same', (timeZone) => {
    const wall = new WallClock(timeZone);
    const start = Date.UTC(2026, 0, 1);
    const days = [...Array(365).keys()].map((day) => start + day * DAY_MS);
    const changes = days.filter((day) => wall.offsetAt(day) !== wall.offsetAt(day + DAY_MS));
    expect(changes).toHaveLength(2);
    for (const day of changes) {
      const [from, until] = [day - DAY_MS, day + 2 * DAY_MS];
      const all = [...wallMinutes(wall, from - DAY_MS, until)];
      for (const minutes of MINUTES)
        for (const hours of HOURS) {
          const expected = all
            .filter(({ local }) => minutes.includes(local.getUTCMinutes()) && hours.includes(local.getUTCHours()))
            .map(({ time }) => time)
            .filter((time) => time > from);
          const times = new PlannedTimes({ cron: `${minutes.join()} ${hours.join()} * * *`, timeZone });
          const found = times.next(expected.length + 10, from).filter((time) => time < until);
          expect(found.map(iso)).toEqual([...new Set(expected)].sort((a, b) => a - b).map(iso));
        }
    }
  });
});

const iso = (time: number): string => new Date(time).toISOString();
