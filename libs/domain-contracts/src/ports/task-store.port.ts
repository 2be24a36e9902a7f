import type { Task } from '../model/task.js';

/** Keeps tasks over restarts. A write that returned is on the disk. */
export abstract class TaskStore {
  abstract put(task: Task): void;
  abstract get(id: string): Task | undefined;
  abstract running(): readonly Task[];
  /** Newest first. */
  abstract recent(limit: number): readonly Task[];
}
