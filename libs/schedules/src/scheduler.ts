import { messageOf, type Log, type Replicas, type Schedule, type ScheduledRun } from '@headgate/domain-contracts';
import { ScheduleTimes, type DueTime } from './due.js';
import { activeRun, withRun } from './run-records.js';
import { RunSettler } from './run-settler.js';
import { RunStarter, type RunStarterDeps } from './run-starter.js';

/**
 * The clock may be corrected while it is waited for, timers are limited to 24 days, and other replicas change
 * schedules.
 */
export const MAX_WAIT_MS = 15_000;

export interface SchedulerDeps extends RunStarterDeps {
  readonly replicas: Pick<Replicas, 'id' | 'isMember' | 'isGone' | 'subscribe'>;
  readonly log: Log;
}

/** Finding the next time takes much longer than comparing with it. */
interface CachedTimes {
  /** The fields of the schedule from which it was computed. */
  readonly key: string;
  readonly times: ScheduleTimes;
  readonly next: ReturnType<ScheduleTimes['next']>;
}

/**
 * Runs schedules at their times, each planned time at most once. Of several replicas, the leader does. A planned time
 * that comes while a run is active is skipped.
 */
export class Scheduler {
  readonly starter: RunStarter;
  private readonly settler: RunSettler;
  private readonly times = new Map<string, CachedTimes>();
  /** Why schedules were not run. */
  private readonly reported = new Map<string, string>();
  private isLeader = false;
  private isReady = false;
  private isClosed = false;
  private hasNews = false;
  private round: Promise<void> | undefined;
  private cancelTimer = (): void => undefined;
  private unsubscribe = (): void => undefined;

  constructor(private readonly deps: SchedulerDeps) {
    this.starter = new RunStarter(deps);
    this.settler = new RunSettler({ ...deps, starter: this.starter });
  }

  /** Call once, after the store was opened. */
  start(): void {
    this.unsubscribe = this.deps.replicas.subscribe({
      elected: () => {
        this.isLeader = true;
        this.wake();
      },
      deposed: () => {
        this.isLeader = false;
        this.cancelTimer();
      },
    });
  }

  /** Runs begin from now on: the instances are known, and tasks of an earlier process continue. */
  resume(): void {
    this.isReady = true;
    this.wake();
  }

  /** Looks at all schedules again, because one of them or a task has changed. */
  wake(): void {
    if (!this.isLeader || !this.isReady || this.isClosed) return;
    this.hasNews = true;
    this.round ??= this.runRounds().finally(() => (this.round = undefined));
  }

  /** Resolves when a round that goes on has ended. */
  async settled(): Promise<void> {
    await this.round;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.unsubscribe();
    this.cancelTimer();
    await this.round;
  }

  /**
   * When a schedule runs next, with its jitter, in ISO 8601; undefined if it is disabled.
   * @throws DomainError INVALID_INPUT for a time zone that this release does not know
   */
  nextRun(schedule: Schedule): string | undefined {
    if (!schedule.enabled) return undefined;
    const { next } = this.timesOf(schedule);
    return next && new Date(next.begins).toISOString();
  }

  private async runRounds(): Promise<void> {
    // What woke it may write only after it was awake.
    await Promise.resolve();
    while (this.hasNews && this.isLeader && !this.isClosed) {
      this.hasNews = false;
      await this.runRound();
    }
  }

  private async runRound(): Promise<void> {
    const { store, clock } = this.deps;
    this.cancelTimer();
    let next = Infinity;
    const schedules = store.all();
    const ids = new Set(schedules.map(({ id }) => id));
    for (const known of [this.times, this.reported]) for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    for (const schedule of schedules) {
      if (!this.isLeader || this.isClosed) return;
      try {
        next = Math.min(next, await this.look(schedule));
      } catch (error) {
        this.report(schedule, messageOf(error));
      }
    }
    const wait = Math.max(0, Math.min(next - clock.now(), MAX_WAIT_MS));
    this.cancelTimer = clock.after(wait, () => this.wake());
  }

  /** Once, as long as the reason is the same. */
  private report({ id }: Schedule, reason: string): void {
    if (this.reported.get(id) === reason) return;
    this.reported.set(id, reason);
    this.deps.log.warn({ schedule: id, reason }, 'a schedule was not run');
  }

  /** @returns when it begins next, in milliseconds since the epoch */
  private async look(schedule: Schedule): Promise<number> {
    const { clock } = this.deps;
    const { times, next } = this.timesOf(schedule);
    await this.settler.settle(schedule, times.jitter);
    if (!schedule.enabled) return Infinity;
    if (!next || next.begins > clock.now()) return next?.begins ?? Infinity;
    const due = times.due(Date.parse(schedule.after), clock.now());
    if (due) await this.runDue(schedule, due);
    return times.next(due?.planned ?? next.planned)?.begins ?? Infinity;
  }

  /** Records a planned time, and starts its run. */
  private async runDue(schedule: Schedule, due: DueTime): Promise<void> {
    const { store } = this.deps;
    const planned = new Date(due.planned).toISOString();
    const missed = due.missedBefore > 0 ? { missedBefore: due.missedBefore } : {};
    const run = this.starter.newRun(schedule, { planned, trigger: due.isLate ? 'late' : 'time', ...missed });
    const stored = await store.change(schedule.owner, schedule.id, (latest) => {
      const isChanged = latest.changedAt !== schedule.changedAt;
      if (isChanged || latest.after >= planned || latest.runs.some(({ id }) => id === run.id)) return undefined;
      const isKnown = latest.runs.some((one) => one.planned === planned && one.trigger !== 'request');
      return isKnown
        ? { ...latest, after: planned }
        : { ...withRun(latest, this.decide(latest, run, due)), after: planned };
    });
    const recorded = stored?.runs.find(({ id }) => id === run.id);
    if (stored && recorded?.status === 'starting') await this.starter.start(stored, run);
  }

  /** The run as it is recorded: about to start, skipped or missed. */
  private decide(schedule: Schedule, run: ScheduledRun, { runs }: DueTime): ScheduledRun {
    const { task: _task, replica: _replica, ...ended } = { ...run, endedAt: run.recordedAt };
    const active = activeRun(schedule);
    if (!runs) return { ...ended, trigger: 'time', status: 'missed', reason: 'The service did not run at that time.' };
    if (active) return { ...ended, status: 'skipped', reason: `The run of ${active.planned} had not ended.` };
    return run;
  }

  private timesOf(schedule: Schedule): CachedTimes {
    const { id, cron, timeZone, jitterSeconds, missed, after } = schedule;
    const key = JSON.stringify([cron, timeZone, jitterSeconds, missed, after]);
    const known = this.times.get(id);
    if (known?.key === key) return known;
    const times = new ScheduleTimes(schedule);
    const found = { key, times, next: times.next(Date.parse(after)) };
    this.times.set(id, found);
    return found;
  }
}
