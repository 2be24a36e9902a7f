import type { Caller } from '../values/caller.js';
import type { ImageRef } from './imported-images.port.js';
import type { InstanceRef } from '../values/instance-ref.js';
import type { BulkOrder } from '../model/bulk.js';
import type { BackgroundWork, BulkWork, Task, TaskKind } from '../model/task.js';

/** Runs long operations as tasks that can be polled. */
export abstract class TaskRunner {
  /** Journals the task, starts the work and returns the task's ID at once. */
  abstract start(
    kind: Exclude<TaskKind, 'bulk'>,
    subject: InstanceRef | ImageRef,
    caller: Caller,
    work: BackgroundWork,
  ): string;

  /** Journals a bulk task with all its members, starts the work and returns the task's ID at once. */
  abstract startBulk(order: BulkOrder, refs: readonly string[], caller: Caller, work: BulkWork): string;

  /** A running or ended task. @throws DomainError TASK_NOT_FOUND */
  abstract get(id: string): Task;

  /** Cancels a running task. @throws DomainError TASK_NOT_FOUND, WRONG_STATE when it has ended */
  abstract cancelTask(id: string, reason: Error): void;

  /** Cancels the running tasks of an instance. They end with the reason as their error. */
  abstract cancel(ref: InstanceRef, reason: Error): void;
}
