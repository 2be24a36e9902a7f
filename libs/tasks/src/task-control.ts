import { DomainError, messageOf, type Author, type Task, type TaskRequest } from '@headgate/domain-contracts';
import { expectWritable } from './expect-writable.js';
import { canceled, committed, notCancelable } from './steps-run.js';
import type { SharedTasks } from './shared-tasks.js';
import type { TaskRun, TaskRuns } from './task-runs.js';

export interface TaskControlDeps {
  readonly runs: TaskRuns;
  readonly shared: Pick<SharedTasks, 'isElsewhere' | 'pause' | 'cancel'>;
  /** @throws DomainError TASK_NOT_FOUND */
  readonly get: (id: string) => Task;
  /** Whether the task of an earlier process waits for the backends. */
  readonly isRecovered: (id: string) => boolean;
}

/** Cancels and pauses running tasks, in whichever replica they run. */
export class TaskControl {
  constructor(private readonly deps: TaskControlDeps) {}

  /** Does nothing if it was canceled before. @throws DomainError TASK_NOT_FOUND, WRONG_STATE, NOT_READY */
  async cancel(id: string, caller: Author): Promise<void> {
    const { shared, get } = this.deps;
    const stored = get(id);
    if (stored.canceledBy !== undefined) return;
    if (shared.isElsewhere(stored)) return shared.cancel(stored, caller.login);
    const { task, journaled } = this.expectRunning(id);
    if (journaled) return expectWritable(() => journaled.cancel(caller));
    const { cancelable, cancelRefusal, steps: begun } = task.summary;
    if (cancelRefusal !== undefined) throw committed(id, cancelRefusal);
    if (!cancelable) throw notCancelable(id, begun.at(-1)?.name);
    task.update({ canceledBy: caller.login, cancelable: false });
    task.cancel(canceled(caller.login));
  }

  /** @throws DomainError TASK_NOT_FOUND, WRONG_STATE, NOT_READY */
  async pause(id: string, isPaused: boolean): Promise<void> {
    const { shared, get } = this.deps;
    const stored = get(id);
    if (shared.isElsewhere(stored)) return shared.pause(stored, isPaused);
    const { journaled } = this.expectRunning(id);
    if (!journaled?.pause) throw new DomainError('WRONG_STATE', `The task ${id} can't be paused; only bulk tasks can.`);
    await expectWritable(async () => journaled.pause?.(isPaused));
  }

  /** A request that this replica has received for another one, which runs the task. */
  async carryOut(id: string, request: TaskRequest): Promise<void> {
    try {
      if (request.action === 'cancel') await this.cancel(id, { login: request.login, name: '' });
      else await this.pause(id, request.action === 'pause');
    } catch (error) {
      // The log shows it, because the caller has got the response already.
      this.deps.runs.get(id)?.task.log(messageOf(error));
    }
  }

  private expectRunning(id: string): TaskRun {
    const { runs, get, isRecovered } = this.deps;
    const run = runs.get(id);
    if (run && !run.task.isEnded) return run;
    if (isRecovered(id))
      throw new DomainError('WRONG_STATE', `The task ${id} is about to continue after a restart; try again soon.`);
    get(id);
    throw new DomainError('WRONG_STATE', `The task ${id} has already ended.`);
  }
}
