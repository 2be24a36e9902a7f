import type { Task, TaskKind, TaskStatus } from '../model/task.js';
import type { TaskJournal } from '../model/task-definition.js';

/** How many tasks of a kind have a status. */
export interface TaskCount {
  readonly kind: TaskKind;
  readonly status: TaskStatus;
  readonly count: number;
}

/** Stores tasks across restarts. A write that has returned is on disk; one that throws has changed nothing. */
export abstract class TaskStore {
  /**
   * Creates or updates a task.
   * @param task its `members` are added or updated by their ref; others, and all if it has none, stay as they are
   * @param journal replaces the stored journal; without it, that stays. An ended task has no journal.
   */
  abstract put(task: Task, journal?: TaskJournal): void;
  abstract get(id: string): Task | undefined;
  /** @throws Error when it can't be read */
  abstract journal(id: string): TaskJournal | undefined;
  /** The oldest first, with the members of bulk tasks. */
  abstract running(): readonly Task[];
  /** Newest first, without logs and the members of bulk tasks. */
  abstract recent(limit: number): readonly Task[];
  abstract counts(): readonly TaskCount[];
  /** Deletes ended tasks that started before that time, ISO 8601. */
  abstract deleteBefore(time: string): void;
}
