const STAMPED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ?/;

/** A line with the time at which it was written. */
export interface TimedLine {
  /** RFC 3339 in UTC with nine digits of fractions, so that texts have the order of times; empty if it is unknown. */
  readonly time: string;
  readonly text: string;
}

/** Separates the time that the service has put before a line. */
export function timedLine(line: string): TimedLine {
  const [stamp, seconds, fraction = '', zone] = STAMPED.exec(line) ?? [];
  if (stamp === undefined) return { time: '', text: line };
  const utc = new Date(`${seconds}${zone}`);
  if (Number.isNaN(utc.getTime())) return { time: '', text: line };
  return { time: `${utc.toISOString().slice(0, 19)}.${fraction.padEnd(9, '0')}Z`, text: line.slice(stamp.length) };
}

/**
 * Where a log was read to. The service knows whole seconds only, so it repeats the lines of the last second, and
 * several of them may have the same time.
 */
export class LogPosition {
  private last = '';
  private countOfLast = 0;
  /** How many lines of the last time are repeated. */
  private repeated = 0;

  /** The time from which the log is read again. */
  get since(): string | undefined {
    return this.last === '' ? undefined : this.last;
  }

  /** The next lines come from another request. */
  restart(): void {
    this.repeated = this.countOfLast;
  }

  /** Whether a line is new, and not repeated. */
  accept({ time }: TimedLine): boolean {
    if (time === '') return this.repeated === 0;
    if (time < this.last) return false;
    if (time > this.last) {
      this.last = time;
      this.countOfLast = 1;
      this.repeated = 0;
      return true;
    }
    if (this.repeated > 0) {
      this.repeated--;
      return false;
    }
    this.countOfLast++;
    return true;
  }
}
