import type { Audit, Caller, TaskRunner } from '@headgate/domain-contracts';

/** Cancels a task. Its caller is recorded in the task and in the audit log. */
export class CancelTask {
  constructor(
    private readonly tasks: TaskRunner,
    private readonly audit: Audit,
  ) {}

  /**
   * Does nothing if the task was canceled before.
   * @throws DomainError TASK_NOT_FOUND; WRONG_STATE when it has ended, or its step can't be interrupted
   */
  async run(id: string, caller: Caller): Promise<void> {
    const { tasks, audit } = this;
    if (tasks.get(id).canceledBy !== undefined) return;
    await audit.of(caller, 'cancel task', `task/${id}`, async () => tasks.cancelTask(id, caller));
  }
}
