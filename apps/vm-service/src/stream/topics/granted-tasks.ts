import { formatRef, type Caller, type Task } from '@headgate/domain-contracts';
import type { FleetEvent } from '@headgate/fleet';
import { MAX_LISTED_TASKS, mayReadTask } from '../../tasks/readable-task.js';

interface TaskSink {
  send(task: Task): void;
  drop(task: Task): void;
}

/** The tasks that one client may read, which changes when an instance is created, deleted or put into a folder. */
export class GrantedTasks {
  /** The recent tasks, also those that the client does not see, by ID. The oldest first. */
  private readonly known = new Map<string, Task>();
  private readonly sent = new Set<string>();

  constructor(
    private readonly reader: Caller,
    private readonly sink: TaskSink,
  ) {}

  /** Begins again with these tasks, the newest first. @returns those that the client may read */
  reset(recent: readonly Task[]): readonly Task[] {
    this.known.clear();
    this.sent.clear();
    for (const task of [...recent].reverse()) this.known.set(task.id, task);
    const readable = recent.filter((task) => mayReadTask(this.reader, task));
    for (const { id } of readable) this.sent.add(id);
    return readable;
  }

  changed(task: Task): void {
    this.known.set(task.id, task);
    for (const [id] of this.known) {
      if (this.known.size <= MAX_LISTED_TASKS) break;
      this.known.delete(id);
      this.sent.delete(id);
    }
    if (mayReadTask(this.reader, task)) {
      this.sent.add(task.id);
      this.sink.send(task);
    } else this.hide(task);
  }

  instanceChanged(change: FleetEvent): void {
    if (change.type === 'status') return;
    const { ref } = change.type === 'changed' ? change.entry.instance : change.instance;
    const text = formatRef(ref);
    for (const task of this.known.values()) if (task.ref === text) this.judge(task);
  }

  private judge(task: Task): void {
    const { id } = task;
    if (!mayReadTask(this.reader, task)) return this.hide(task);
    if (this.sent.has(id)) return;
    this.sent.add(id);
    this.sink.send(task);
  }

  private hide(task: Task): void {
    if (this.sent.delete(task.id)) this.sink.drop(task);
  }
}
