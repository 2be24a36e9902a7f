import type { Task, TaskCount, TaskMember } from '@headgate/domain-contracts';
import type { LogPart } from './task-log.js';

/** A running task, whose changes can be followed. */
export interface LiveTask {
  readonly current: Task;
  /** Without the log and the members. */
  readonly summary: Task;
  /** The offset after the log's last line. */
  readonly logEnd: number;
  logSince(offset: number): LogPart;
  readonly membersVersion: number;
  /** The members that changed after that version. */
  membersSince(version: number): readonly TaskMember[];
  /** @param listener called after each change, also the end */
  subscribe(listener: () => void): () => void;
}

/** Read access to running and ended tasks. */
export abstract class TaskReader {
  /** @throws DomainError TASK_NOT_FOUND */
  abstract get(id: string): Task;

  /** A task that runs in this process, or whose end could not be written yet. */
  abstract live(id: string): LiveTask | undefined;

  /** The newest first, without logs and members. */
  abstract recent(limit: number): Task[];

  /**
   * @param listener called with each task that was created or changed, in whichever replica, without its log and
   *   members. Must not throw
   */
  abstract subscribe(listener: (task: Task) => void): () => void;

  abstract counts(): readonly TaskCount[];
}
