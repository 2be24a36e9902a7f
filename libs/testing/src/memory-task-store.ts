import { TaskStore, type Task, type TaskCount, type TaskJournal } from '@headgate/domain-contracts';

/** TaskStore in memory. Like a real one, it returns copies. */
export class MemoryTaskStore extends TaskStore {
  private readonly tasks = new Map<string, Task>();
  private readonly journals = new Map<string, TaskJournal>();
  /** The number of writes. */
  puts = 0;
  /** Every write fails. */
  isFull = false;

  override async put({ members, ...task }: Task, journal?: TaskJournal): Promise<void> {
    if (this.isFull) throw new Error('database or disk is full');
    this.puts++;
    const kept = new Map((this.tasks.get(task.id)?.members ?? []).map((member) => [member.ref, member]));
    for (const member of members ?? []) kept.set(member.ref, member);
    this.tasks.set(task.id, structuredClone(kept.size > 0 ? { ...task, members: [...kept.values()] } : task));
    if (task.status !== 'running') this.journals.delete(task.id);
    else if (journal) this.journals.set(task.id, structuredClone(journal));
  }

  override get(id: string): Task | undefined {
    return structuredClone(this.tasks.get(id));
  }

  override journal(id: string): TaskJournal | undefined {
    return structuredClone(this.journals.get(id));
  }

  override running(): readonly Task[] {
    return this.sorted().filter(({ status }) => status === 'running');
  }

  override recent(limit: number): readonly Task[] {
    return this.sorted()
      .reverse()
      .slice(0, limit)
      .map(({ members: _members, ...task }) => ({ ...task, log: '' }));
  }

  override counts(): readonly TaskCount[] {
    const counts = new Map<string, TaskCount>();
    for (const { kind, status } of this.tasks.values()) {
      const key = `${kind} ${status}`;
      counts.set(key, { kind, status, count: (counts.get(key)?.count ?? 0) + 1 });
    }
    return [...counts.keys()].sort().flatMap((key) => counts.get(key) ?? []);
  }

  override async deleteBefore(time: string): Promise<void> {
    for (const { id, status, startedAt } of [...this.tasks.values()])
      if (status !== 'running' && startedAt < time) this.tasks.delete(id);
  }

  private sorted(): Task[] {
    const keyOf = ({ startedAt, id }: Task): string => `${startedAt} ${id}`;
    return [...this.tasks.values()].map((task) => structuredClone(task)).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }
}
