import type { Task, TaskKind, TaskStatus } from '../model/task.js';
import type { TaskJournal } from '../model/task-definition.js';

/** How many tasks of a kind have a status. */
export interface TaskCount {
  readonly kind: TaskKind;
  readonly status: TaskStatus;
  readonly count: number;
}

/** Another replica runs the task now: what this process writes about it no longer counts, and its work must stop. */
export class TaskTakenOver extends Error {
  override readonly name = 'TaskTakenOver';
}

/**
 * Stores tasks across restarts. A write that has returned is durable; one that throws has changed nothing. Reads return
 * the last write.
 */
export abstract class TaskStore {
  /**
   * Creates or updates a task.
   * @param task its `members` are added or updated by their ref; others, and all if it has none, stay as they are
   * @param journal replaces the stored journal; without it, that stays. An ended task has no journal.
   */
  abstract put(task: Task, journal?: TaskJournal): Promise<void>;
  abstract get(id: string): Task | undefined;
  /** @throws Error when it can't be read */
  abstract journal(id: string): TaskJournal | undefined;
  /** The oldest first, with the members of bulk tasks. */
  abstract running(): readonly Task[];
  /** Newest first, without logs and the members of bulk tasks. */
  abstract recent(limit: number): readonly Task[];
  abstract counts(): readonly TaskCount[];
  /** Deletes ended tasks that started before that time, ISO 8601. */
  abstract deleteBefore(time: string): Promise<void>;
}

/** What a replica asks the one that runs a task. */
export type TaskRequest =
  { readonly action: 'cancel'; readonly login: string } | { readonly action: 'pause' | 'continue' };

/** Who runs a task, in the last version of the task that this replica has seen. */
export interface TaskRun {
  /** The ID of the replica. */
  readonly runner: string;
  /** Grows with each write of the task. */
  readonly revision: number;
}

/**
 * A TaskStore that several replicas use. A task is written by the replica that created it, its runner, until another
 * one takes it over. From then on, each write of the former runner throws TaskTakenOver.
 */
export abstract class SharedTaskStore extends TaskStore {
  abstract runOf(id: string): TaskRun | undefined;

  /** Whether any replica runs a task of a kind for an instance, whose ref is text. */
  abstract isRunning(kind: TaskKind, ref: string): boolean;

  /**
   * Makes this replica the runner of a task.
   * @param run as it was when the runner was found to be gone
   * @returns undefined if the task has ended, or was written since: its runner may have come back
   */
  abstract take(id: string, run: TaskRun): Promise<Task | undefined>;

  /** Asks the runner of a task. @throws DomainError TASK_NOT_FOUND; WRONG_STATE when the task has ended */
  abstract request(id: string, request: TaskRequest): Promise<void>;

  /** @param listener called after each change of a task by another replica, until the returned function is called */
  abstract subscribe(listener: (task: Task, request: TaskRequest | undefined) => void): () => void;
}
