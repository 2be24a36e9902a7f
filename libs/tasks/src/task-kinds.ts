import type { Task, TaskKind } from '@headgate/domain-contracts';
import type { LiveJournal } from './live-journal.js';
import type { JournaledKind, JournaledRun } from './journaled-kind.js';
import type { RunningTask } from './running-task.js';

/** The kinds of tasks that continue after a restart. */
export class TaskKinds {
  private readonly kinds = new Map<TaskKind, JournaledKind>();

  define(kind: TaskKind, tasks: JournaledKind): void {
    if (this.kinds.has(kind)) throw new Error(`Tasks of the kind ${kind} are already defined.`);
    this.kinds.set(kind, tasks);
  }

  /** @returns the version of the journals; undefined if the tasks of the kind can't continue */
  readonly versionOf = (kind: TaskKind): number | undefined => this.kinds.get(kind)?.version;

  /** @throws Error for a task whose kind is not defined */
  expect({ id, kind }: Pick<Task, 'id' | 'kind'>): JournaledKind {
    const known = this.kinds.get(kind);
    if (!known) throw new Error(`Tasks of the kind ${kind} are not defined; ${id} can't run.`);
    return known;
  }

  /** @throws Error like `expect`, and what the kind throws */
  open(task: RunningTask, journal: LiveJournal): JournaledRun {
    return this.expect(task.summary).open(task, journal);
  }
}
