import type { Task, TaskJournal } from '@headgate/domain-contracts';
import { SqliteTaskStore } from '@headgate/registry-store';

/** The task store of the registry, which also reports the end of each task once it is on disk. */
export class AnnouncingTaskStore extends SqliteTaskStore {
  private listener: ((task: Task) => void) | undefined;

  /** @param listener must not throw: the task has ended whatever it does */
  onEnd(listener: (task: Task) => void): void {
    this.listener = listener;
  }

  override put(task: Task, journal?: TaskJournal): void {
    super.put(task, journal);
    if (task.status !== 'running') this.listener?.(task);
  }
}
