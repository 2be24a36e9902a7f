import { DomainError } from '@headgate/domain-contracts';

const SECOND_MS = 1000;
/** Further from UTC than any zone, and longer than what clocks have ever skipped. */
const DAY_MS = 24 * 60 * 60 * SECOND_MS;
/** A name of the IANA database, not an offset such as `+02:00`, which knows no daylight saving. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;
const PARTS: Intl.DateTimeFormatOptions = {
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
};

/** A moment at which the clocks show a time, or the moment that takes its place on a day that skips it. */
export interface Moment {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Present if the clocks skip the time: the time that they show next, instead. */
  readonly skippedUntil?: number;
}

/** The clocks on the walls of a time zone. The time that they show is written as if it were UTC. */
export class WallClock {
  private readonly format: Intl.DateTimeFormat;

  /** @throws DomainError INVALID_INPUT for a time zone that does not exist */
  constructor(timeZone: string) {
    this.format = formatOf(timeZone);
  }

  /** How far the clocks are ahead of UTC, in milliseconds. */
  offsetAt(time: number): number {
    const parts = Object.fromEntries(this.format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(time / SECOND_MS) * SECOND_MS;
  }

  /** The offset of the clocks a day before. */
  earlierOffsetAt(time: number): number {
    return this.offsetAt(time - DAY_MS);
  }

  /**
   * When the clocks show a time, for the first time if they show it twice. A skipped time comes as much later as the
   * clocks are set forward.
   */
  momentOf(shown: number): Moment {
    const [before, after] = [this.offsetAt(shown - DAY_MS), this.offsetAt(shown + DAY_MS)];
    for (const offset of new Set([before, after]))
      if (this.offsetAt(shown - offset) === offset) return { time: shown - offset };
    const change = this.changeBetween(shown - after, shown - before);
    return { time: shown - before, skippedUntil: change + after };
  }

  /** When the offset changes between two moments. */
  private changeBetween(from: number, until: number): number {
    let [low, high] = [Math.floor(from / SECOND_MS), Math.ceil(until / SECOND_MS)];
    const offset = this.offsetAt(low * SECOND_MS);
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.offsetAt(middle * SECOND_MS) === offset) low = middle;
      else high = middle;
    }
    return high * SECOND_MS;
  }
}

/** @throws DomainError INVALID_INPUT for a time zone that does not exist */
export function expectTimeZone(timeZone: string): void {
  formatOf(timeZone);
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  try {
    if (ZONE_NAME.test(timeZone)) return new Intl.DateTimeFormat('en-US', { timeZone, ...PARTS });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new DomainError(
    'INVALID_INPUT',
    `timeZone: "${timeZone.slice(0, 60)}" is no time zone; use a name such as Europe/Berlin or UTC.`,
  );
}
