import type { MissedPolicy } from '@headgate/domain-contracts';
import { jitterMs } from './jitter.js';
import { PlannedTimes } from './planned-times.js';

/** A run that begins later than this was missed: a restart and the election of another leader take less. */
export const GRACE_MS = 2 * 60_000;
/** More missed times are not counted. */
export const MAX_MISSED = 1000;

/** When a schedule runs. */
export interface Timing {
  readonly id: string;
  readonly cron: string;
  readonly timeZone: string;
  /** Each run begins up to so many seconds after its planned time. */
  readonly jitterSeconds: number;
  readonly missed: MissedPolicy;
}

/** The latest planned time that has come. Those before it are never run. */
export interface DueTime {
  /** Milliseconds since the epoch. */
  readonly planned: number;
  /** Whether it is run; otherwise it was missed. */
  readonly runs: boolean;
  /** Whether it begins long after its time. */
  readonly isLate: boolean;
  /** The number of planned times before it that are not run, at most 1000. */
  readonly missedBefore: number;
}

/** The times of a schedule, with its jitter. */
export class ScheduleTimes {
  private readonly times: PlannedTimes;
  /** Milliseconds. */
  readonly jitter: number;

  /** @throws DomainError INVALID_INPUT */
  constructor(private readonly timing: Timing) {
    this.times = new PlannedTimes(timing);
    this.jitter = jitterMs(timing.id, timing.jitterSeconds);
  }

  /**
   * The first planned time after another one, and when it begins.
   * @param after milliseconds since the epoch, of a planned time without jitter
   */
  next(after: number): { readonly planned: number; readonly begins: number } | undefined {
    const planned = this.times.after(after);
    return planned === undefined ? undefined : { planned, begins: planned + this.jitter };
  }

  /**
   * What has to be run now. After an outage that is at most one time, however many were missed.
   * @param after the planned time that was considered last. Nothing before it is due again, also when the clock was set
   *   back
   */
  due(after: number, now: number): DueTime | undefined {
    const planned = this.times.last(after, now - this.jitter);
    if (planned === undefined) return undefined;
    const isLate = now - (planned + this.jitter) > GRACE_MS;
    return {
      planned,
      runs: !isLate || this.timing.missed === 'once',
      isLate,
      missedBefore: this.times.count(after, planned, MAX_MISSED),
    };
  }
}
