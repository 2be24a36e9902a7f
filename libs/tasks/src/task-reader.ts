import type { Task } from '@headgate/domain-contracts';

/** Read access to running and ended tasks. */
export abstract class TaskReader {
  /** @throws DomainError TASK_NOT_FOUND */
  abstract get(id: string): Task;

  /** The newest first. */
  abstract recent(limit: number): Task[];
}
