import { DomainError } from '@headgate/domain-contracts';
import { Cron } from 'croner';
import { WallClock, type Moment } from './wall-clock.js';

const DAY_MS = 24 * 60 * 60_000;
/** From the latest time back. The first one with a time in it is searched to its end. */
const WINDOWS_MS = [DAY_MS / 24, DAY_MS, 32 * DAY_MS, 367 * DAY_MS, 9 * 366 * DAY_MS];
const NICKNAMES: readonly string[] = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const FIELDS = 5;
const MAX_CHARS = 200;
/** The parser searches until the year 3000, and exhausts the stack if it finds nothing in all these years. */
const LAST_CENTURY = new Date(Date.UTC(2900, 0, 1));

export interface PlannedTimesOptions {
  /** Five fields: minute, hour, day of month, month, day of week; or a name such as `@daily`. */
  readonly cron: string;
  /** A name of the IANA database, such as `Europe/Berlin`. */
  readonly timeZone: string;
}

/**
 * The times of a cron expression in a time zone, in milliseconds since the epoch and each of them once. A time that the
 * clocks skip on a day is as much later as they are set forward. A time that they show twice is planned only the first
 * time.
 */
export class PlannedTimes {
  /** Reads the times on the clocks, as if they were UTC: it misses some where clocks change. */
  private readonly cron: Cron;
  private readonly wall: WallClock;

  /** @throws DomainError INVALID_INPUT, with the field, for an expression without any time and an unknown time zone */
  constructor({ cron, timeZone }: PlannedTimesOptions) {
    this.wall = new WallClock(timeZone);
    this.cron = parse(cron);
  }

  /** The first time after another one; undefined if there is none. */
  after(time: number): number | undefined {
    const { wall } = this;
    const offset = wall.offsetAt(time);
    const found = this.shownAfter(time + offset, time);
    const before = wall.earlierOffsetAt(time);
    // The clocks were set forward: some of the times that they have skipped may be still to come.
    const skipped = before < offset ? this.moment(time + before) : undefined;
    return skipped?.skippedUntil === undefined ? found : Math.min(skipped.time, found ?? Infinity);
  }

  /** The first moment after `time` at which the clocks show a planned time after `shown`. */
  private shownAfter(shown: number, time: number): number | undefined {
    let found = this.moment(shown);
    // In an hour that occurs again, the planned times were the first time.
    while (found && found.time <= time) found = this.moment(found.shown);
    if (found?.skippedUntil === undefined) return found?.time;
    // A time that is shown after the gap may be earlier than one that was in it.
    return Math.min(found.time, this.moment(found.skippedUntil - 1)?.time ?? Infinity);
  }

  private moment(shown: number): (Moment & { readonly shown: number }) | undefined {
    const next = this.cron.nextRun(new Date(shown))?.getTime();
    return next === undefined ? undefined : { shown: next, ...this.wall.momentOf(next) };
  }

  /** The first times after another one. */
  next(count: number, time: number): number[] {
    const times: number[] = [];
    for (let next = this.after(time); next !== undefined && times.length < count; next = this.after(next))
      times.push(next);
    return times;
  }

  /** The last time that is after `since` and not after `until`. */
  last(since: number, until: number): number | undefined {
    for (const window of WINDOWS_MS) {
      const from = Math.max(since, until - window);
      let last: number | undefined;
      for (let next = this.after(from); next !== undefined && next <= until; next = this.after(next)) last = next;
      if (last !== undefined || from === since) return last;
    }
    return undefined;
  }

  /** The number of times after `since` and before `until`, at most `max`. */
  count(since: number, until: number, max: number): number {
    let count = 0;
    for (let next = this.after(since); next !== undefined && next < until && count < max; next = this.after(next))
      count++;
    return count;
  }
}

function parse(text: string): Cron {
  const pattern = text.trim().replace(/\s+/g, ' ');
  const isNickname = NICKNAMES.includes(pattern.toLowerCase());
  if (pattern.length > MAX_CHARS) throw invalid(`is longer than ${MAX_CHARS} characters`);
  if (!isNickname && (pattern.startsWith('@') || pattern.split(' ').length !== FIELDS))
    throw invalid(`"${pattern}" must have 5 fields, such as "30 2 * * 1-5", or be one of ${NICKNAMES.join(', ')}`);
  let cron: Cron;
  try {
    cron = new Cron(pattern, { timezone: 'UTC', mode: '5-part', paused: true });
  } catch (error) {
    throw invalid(`"${pattern}" can't be read: ${reasonOf(error)}`);
  }
  if (!cron.nextRun(LAST_CENTURY)) throw invalid(`"${pattern}" never matches: there is no such day`);
  return cron;
}

const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/^CronPattern: /, '').replace(/\.$/, '');

const invalid = (message: string): DomainError => new DomainError('INVALID_INPUT', `cron: ${message}.`);
