import type { Task } from '../model/task.js';

/** Stores tasks across restarts. A write that has returned is on disk. */
export abstract class TaskStore {
  abstract put(task: Task): void;
  abstract get(id: string): Task | undefined;
  abstract running(): readonly Task[];
  /** Newest first, without the members of bulk tasks. */
  abstract recent(limit: number): readonly Task[];
}
