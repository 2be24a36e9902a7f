import type { Author, Caller } from '../model/caller.js';
import type { ImageRef } from './imported-images.port.js';
import type { InstanceRef } from '../values/instance-ref.js';
import type { BulkRequest, MemberTasks, MemberWork } from '../model/bulk.js';
import type { BackgroundWork, Task, TaskKind } from '../model/task.js';
import type { DefinedTask, TaskDefinition } from '../model/task-definition.js';
import type { Reservation } from '../model/work.js';

export interface BulkStart {
  /** The ID of the task, if its caller has recorded it before. No task has it yet. */
  readonly id?: string;
  /** The ID of a member, so that no other instance of its name is touched. */
  readonly uidOf?: (ref: string) => string | undefined;
}

/** Runs long operations as tasks that can be polled. */
export abstract class TaskRunner {
  /**
   * Registers a kind of task that survives restarts. Call it while the service is created, before it starts: tasks that
   * a restart interrupted are resumed or rolled back when it starts.
   */
  abstract define<Input extends object>(definition: TaskDefinition<Input>): DefinedTask<Input>;

  /** Registers the work of bulk tasks; call it like `define`. */
  abstract defineBulk(work: MemberWork): void;

  /** Registers the work of bulk tasks whose members are tasks of their own; call it like `define`. */
  abstract defineQueue(work: MemberTasks): void;

  /**
   * Journals the task, starts the work and returns the task's ID without waiting for the work. The work ends with the
   * process.
   * @param reservation the task has it until it ends
   */
  abstract start(
    kind: Exclude<TaskKind, 'bulk'>,
    subject: InstanceRef | ImageRef,
    caller: Caller,
    work: BackgroundWork,
    reservation?: Reservation,
  ): Promise<string>;

  /**
   * Journals a bulk task with all its members, starts it and returns the task's ID without waiting for the work. Each
   * member is journaled before its work begins; after a restart, only those are carried out that had not begun. The
   * tasks of a queue's members continue on their own.
   *
   * @throws DomainError NOT_READY when the task could not be journaled; nothing has begun then
   */
  abstract startBulk(
    request: BulkRequest,
    refs: readonly string[],
    caller: Caller,
    options?: BulkStart,
  ): Promise<string>;

  /**
   * Begins no further member until it is continued, also after a restart.
   * @throws DomainError TASK_NOT_FOUND, WRONG_STATE
   */
  abstract pauseBulk(id: string, isPaused: boolean): Promise<void>;

  /** A running or ended task. @throws DomainError TASK_NOT_FOUND */
  abstract get(id: string): Task;

  /**
   * Resolves when this process no longer runs the task: it has ended, or continues after the next start of the service.
   */
  abstract whenEnded(id: string): Promise<void>;

  /**
   * Cancels a running task. Does nothing if it was canceled before.
   * @throws DomainError TASK_NOT_FOUND; WRONG_STATE when it has ended, or its step can't be interrupted
   */
  abstract cancelTask(id: string, caller: Author): Promise<void>;

  /** Cancels the running tasks of an instance that is gone. They end with the reason as their error. */
  abstract cancel(ref: InstanceRef, reason: Error): void;
}
