import {
  DomainError,
  type Clock,
  type Replicas,
  type Schedule,
  type ScheduledRun,
  type Task,
  type TaskRunner,
} from '@headgate/domain-contracts';
import { GRACE_MS } from './due.js';
import { activeRun } from './run-records.js';
import type { RunStarter } from './run-starter.js';

export interface RunSettlerDeps {
  readonly tasks: Pick<TaskRunner, 'get'>;
  readonly replicas: Pick<Replicas, 'id' | 'isGone'>;
  readonly starter: RunStarter;
  readonly clock: Clock;
}

const ACTIVE = ['starting', 'running'] as const;

/** Records the ends of runs, and continues those whose process ended before their tasks existed. */
export class RunSettler {
  constructor(private readonly deps: RunSettlerDeps) {}

  /** @param jitter of the schedule, in milliseconds */
  async settle(schedule: Schedule, jitter: number): Promise<void> {
    const { starter } = this.deps;
    const run = activeRun(schedule);
    if (!run || starter.isStarting(run)) return;
    const task = this.find(run.task);
    if (task) return this.followTask(schedule, run, task);
    if (run.status === 'running')
      return this.end(schedule, run, 'error', 'Its task was deleted before its end was seen.');
    if (await this.isOrphaned(run)) return this.takeOver(schedule, run, jitter);
  }

  private async followTask(schedule: Schedule, run: ScheduledRun, task: Task): Promise<void> {
    if (task.status === 'done') return this.end(schedule, run, 'done');
    if (task.status === 'error') return this.end(schedule, run, 'error', task.error);
    if (run.status === 'starting') await this.deps.starter.record(schedule, run, ['starting'], { status: 'running' });
  }

  private async end(
    schedule: Schedule,
    run: ScheduledRun,
    status: 'done' | 'error' | 'missed',
    reason?: string,
  ): Promise<void> {
    const { starter, clock } = this.deps;
    const state = { status, endedAt: clock.iso(), ...(reason !== undefined && { reason }) };
    await starter.record(schedule, run, ACTIVE, state);
  }

  /** Whether no process will start the task any more. A service that runs alone has the same ID after a restart. */
  private async isOrphaned({ replica = '' }: ScheduledRun): Promise<boolean> {
    const { replicas } = this.deps;
    return replica === replicas.id || replicas.isGone(replica);
  }

  /** Nothing of the run has begun. It still may, under the same ID, unless it would be too late. */
  private async takeOver(schedule: Schedule, run: ScheduledRun, jitter: number): Promise<void> {
    const { clock, starter } = this.deps;
    const begins = Date.parse(run.planned) + (run.trigger === 'request' ? 0 : jitter);
    const isLate = clock.now() - begins > GRACE_MS;
    if (run.task === undefined || (isLate && (run.trigger === 'request' || schedule.missed === 'skip')))
      return this.end(schedule, run, 'missed', 'The service ended before the run had begun.');
    await starter.takeOver(schedule, { ...run, task: run.task });
  }

  private find(id: string | undefined): Task | undefined {
    try {
      return id === undefined ? undefined : this.deps.tasks.get(id);
    } catch (error) {
      if (DomainError.is(error, 'TASK_NOT_FOUND')) return undefined;
      throw error;
    }
  }
}
