import { randomUUID } from 'node:crypto';
import {
  DomainError,
  messageOf,
  type Audit,
  type Caller,
  type Clock,
  type Replicas,
  type RunTrigger,
  type Schedule,
  type ScheduledRun,
  type ScheduleStore,
  type TaskRunner,
} from '@headgate/domain-contracts';
import type { JobKinds } from './job-kind.js';
import { activeRun, withRun, withState } from './run-records.js';

/** The owners of schedules, as callers. */
export abstract class ScheduleOwners {
  /**
   * The owner with the rights that they have now, limited to those of the API token that has created the schedule.
   * @throws DomainError NOT_PERMITTED when the token is gone or expired
   */
  abstract callerOf(schedule: Pick<Schedule, 'owner' | 'token'>): Caller;
}

export interface RunStarterDeps {
  readonly store: ScheduleStore;
  readonly jobs: JobKinds;
  readonly owners: ScheduleOwners;
  readonly tasks: Pick<TaskRunner, 'get'>;
  readonly replicas: Pick<Replicas, 'id' | 'isMember'>;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** A run that is about to be recorded. */
export interface NewRun {
  /** ISO 8601. */
  readonly planned: string;
  readonly trigger: RunTrigger;
  readonly missedBefore?: number;
}

/**
 * Starts the tasks of runs. A run is recorded with the ID of its task before the task exists, so that a process that is
 * killed at any moment leaves a record from which the next one sees whether the task was started.
 */
export class RunStarter {
  /** The runs that this process is starting. */
  private readonly starting = new Set<string>();

  constructor(private readonly deps: RunStarterDeps) {}

  /** A run of a schedule that begins now. */
  newRun({ job }: Schedule, run: NewRun): ScheduledRun & { readonly task: string } {
    const { jobs, replicas, clock } = this.deps;
    const task = jobs.of(job).newTask(job);
    return { id: randomUUID(), ...run, status: 'starting', task, replica: replicas.id, recordedAt: clock.iso() };
  }

  /**
   * Runs a schedule now, whatever its times are.
   * @throws DomainError SCHEDULE_NOT_FOUND; WRONG_STATE while a run is active; NOT_READY
   */
  async runNow(schedule: Schedule): Promise<ScheduledRun> {
    const { store, clock, replicas } = this.deps;
    const { owner, id } = schedule;
    if (!replicas.isMember)
      throw new DomainError('NOT_READY', 'This replica does not reach the store of the cluster; try again soon.');
    const run = this.newRun(schedule, { planned: clock.iso(), trigger: 'request' });
    this.starting.add(run.id);
    try {
      const recorded = await store.change(owner, id, (stored) => {
        const active = activeRun(stored);
        if (active?.id === run.id) return undefined;
        if (active)
          throw new DomainError('WRONG_STATE', `The schedule ${stored.name} still runs (task ${active.task}).`);
        return withRun(stored, run);
      });
      if (!recorded) throw new DomainError('SCHEDULE_NOT_FOUND', `There is no schedule ${id}.`);
      return await this.start(recorded, run);
    } finally {
      this.starting.delete(run.id);
    }
  }

  /** Whether this process is about to start the task of a run. */
  isStarting(run: ScheduledRun): boolean {
    return this.starting.has(run.id);
  }

  /**
   * Starts the task of a recorded run, and records what has become of it.
   * @returns the run afterwards
   */
  async start(schedule: Schedule, run: ScheduledRun & { readonly task: string }): Promise<ScheduledRun> {
    const { audit, clock } = this.deps;
    const noTask = { task: undefined };
    this.starting.add(run.id);
    try {
      let state: Partial<ScheduledRun>;
      try {
        const author = { login: schedule.owner, name: '', ...(schedule.token && { token: schedule.token }) };
        const hasBegun = await audit.of(author, 'run schedule', `schedule/${schedule.id}`, () =>
          this.begin(schedule, run),
        );
        state = hasBegun
          ? { status: 'running' }
          : { ...noTask, status: 'empty', endedAt: clock.iso(), reason: 'No instance matched.' };
      } catch (error) {
        // The task may exist: a write after it may have failed.
        if (this.hasTask(run.task)) return run;
        state = { ...noTask, status: 'error', endedAt: clock.iso(), reason: messageOf(error) };
      }
      await this.record(schedule, run, ['starting'], state);
      return { ...run, ...state };
    } finally {
      this.starting.delete(run.id);
    }
  }

  /** Starts the task of a run whose process ended before. Does nothing if another replica does. */
  async takeOver(schedule: Schedule, run: ScheduledRun & { readonly task: string }): Promise<void> {
    const { store, replicas } = this.deps;
    const own = { ...run, replica: replicas.id };
    const stored = await store.change(schedule.owner, schedule.id, (latest) => {
      const isSame = latest.runs.some(({ id, replica }) => id === run.id && replica === run.replica);
      return isSame ? withState(latest, run.id, ['starting'], { replica: replicas.id }) : undefined;
    });
    const found = stored?.runs.find(({ id }) => id === run.id);
    if (stored && found?.status === 'starting' && found.replica === replicas.id) await this.start(stored, own);
  }

  /** Records a later state of a run, unless its status is another one by now. */
  async record(
    { owner, id }: Schedule,
    run: ScheduledRun,
    expected: readonly ScheduledRun['status'][],
    state: Partial<ScheduledRun>,
  ): Promise<void> {
    await this.deps.store.change(owner, id, (stored) => withState(stored, run.id, expected, state));
  }

  private async begin(schedule: Schedule, run: ScheduledRun & { readonly task: string }): Promise<boolean> {
    const caller = this.deps.owners.callerOf(schedule);
    return this.deps.jobs.of(schedule.job).start(schedule, run, caller);
  }

  private hasTask(id: string): boolean {
    try {
      this.deps.tasks.get(id);
      return true;
    } catch (error) {
      if (DomainError.is(error, 'TASK_NOT_FOUND')) return false;
      throw error;
    }
  }
}
