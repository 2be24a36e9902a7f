import type { Clock, Log } from '@headgate/domain-contracts';
import type { JournaledRun, RunOutcome } from './journaled-kind.js';
import type { RunningTask } from './running-task.js';

const END_RETRY_MS = 10_000;
/** How long a shutdown waits for work that does not stop. The journal says how far it has come. */
const STOP_TIMEOUT_MS = 5_000;

/** A task that this process runs. */
export interface TaskRun {
  readonly task: RunningTask;
  readonly ended: Promise<void>;
  /** Absent for work that ends with the process. */
  readonly journaled?: JournaledRun;
}

export interface TaskRunsDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the work of a task has ended, also when its end can't be written. */
  readonly release: (id: string) => void;
}

/** The tasks that run in this process. A task whose end can't be written stays here until it can. */
export class TaskRuns {
  private readonly runs = new Map<string, TaskRun>();
  private isClosed = false;

  constructor(private readonly deps: TaskRunsDeps) {}

  has(id: string): boolean {
    return this.runs.has(id);
  }

  get(id: string): TaskRun | undefined {
    return this.runs.get(id);
  }

  all(): Iterable<TaskRun> {
    return this.runs.values();
  }

  /** @returns the ID of the task, which the caller gets before the work can end */
  begin(task: RunningTask, run: () => Promise<RunOutcome>, journaled?: JournaledRun): string {
    const { id } = task.summary;
    const ended = Promise.resolve()
      .then(run)
      .then((outcome) => this.settle(task, outcome));
    this.runs.set(id, { task, ended, ...(journaled && { journaled }) });
    return id;
  }

  /** Stops all work. @returns the runs that have not ended */
  stop(): TaskRun[] {
    const left = [...this.runs.values()].filter(({ task }) => !task.isEnded);
    for (const { task } of left) task.stop();
    return left;
  }

  /** Stops all work, and waits until it has stopped, or for 5 seconds. */
  async close(): Promise<void> {
    this.isClosed = true;
    const left = this.stop();
    const timeout = Promise.withResolvers<void>();
    const cancel = this.deps.clock.after(STOP_TIMEOUT_MS, timeout.resolve);
    await Promise.race([Promise.all(left.map(({ ended }) => ended)), timeout.promise]);
    cancel();
    for (const { task } of this.runs.values()) task.detach();
  }

  private async settle(task: RunningTask, outcome: RunOutcome): Promise<void> {
    const { log, release } = this.deps;
    const { id, kind, status, error } = task.summary;
    if (outcome === 'ended' && !task.isAbandoned) release(id);
    // Otherwise the task is served from memory, and its end is written later.
    if (outcome === 'suspended' || task.isWritten || task.isAbandoned) {
      if (!task.isWritten && !task.isAbandoned) await task.write();
      this.runs.delete(id);
    } else {
      this.retryEnd(task);
    }
    if (outcome === 'suspended') log.info({ id, kind }, 'task suspended');
    else log.info({ id, kind, status, error }, 'task ended');
  }

  private retryEnd(task: RunningTask): void {
    this.deps.clock.after(END_RETRY_MS, async () => {
      if (this.isClosed) return;
      if ((await task.write()) || task.isAbandoned) this.runs.delete(task.summary.id);
      else this.retryEnd(task);
    });
  }
}
