import {
  AuditLog,
  TaskStore,
  type AuditEntry,
  type Task,
  type TaskCount,
  type TaskJournal,
} from '@headgate/domain-contracts';

/** The tasks of one twin, in memory. */
export class PassingTasks extends TaskStore {
  private readonly tasks = new Map<string, Task>();
  private readonly journals = new Map<string, TaskJournal>();

  override async put(task: Task, journal?: TaskJournal): Promise<void> {
    const known = new Map((this.tasks.get(task.id)?.members ?? []).map((member) => [member.ref, member]));
    for (const member of task.members ?? []) known.set(member.ref, member);
    this.tasks.set(task.id, { ...task, ...(known.size > 0 && { members: [...known.values()] }) });
    if (task.status !== 'running') this.journals.delete(task.id);
    else if (journal) this.journals.set(task.id, journal);
  }

  override get(id: string): Task | undefined {
    return this.tasks.get(id);
  }

  override journal(id: string): TaskJournal | undefined {
    return this.journals.get(id);
  }

  override running(): readonly Task[] {
    return this.all().filter(({ status }) => status === 'running');
  }

  override recent(limit: number): readonly Task[] {
    return this.all().reverse().slice(0, limit);
  }

  override counts(): readonly TaskCount[] {
    return [];
  }

  override async deleteBefore(): Promise<void> {
    // A twin ends before a task is old.
  }

  /** The oldest first. */
  all(): Task[] {
    return [...this.tasks.values()];
  }
}

/** A twin has no journal: nothing of it happened. */
export class NoJournal extends AuditLog {
  override append(_entry: AuditEntry): void {
    // The outcome of the twin has everything.
  }

  override recent(): readonly AuditEntry[] {
    return [];
  }
}
