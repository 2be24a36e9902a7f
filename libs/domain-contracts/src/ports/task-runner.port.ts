import type { Caller } from '../values/caller.js';
import type { InstanceRef } from '../values/instance-ref.js';
import type { BackgroundWork, TaskKind } from '../model/task.js';

/** Runs long operations as tasks that can be polled. */
export abstract class TaskRunner {
  /** Journals the task, starts the work and returns the task's ID at once. */
  abstract start(kind: TaskKind, ref: InstanceRef, caller: Caller, work: BackgroundWork): string;

  /** Cancels the running tasks of an instance. They end with the reason as their error. */
  abstract cancel(ref: InstanceRef, reason: Error): void;
}
