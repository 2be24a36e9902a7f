import {
  DomainError,
  SharedTaskStore,
  TaskTakenOver,
  type Task,
  type TaskCount,
  type TaskJournal,
  type TaskKind,
  type TaskRequest,
  type TaskRun,
} from '@headgate/domain-contracts';
import { MemoryTaskStore } from './memory-task-store.js';

type Listener = (task: Task, request: TaskRequest | undefined) => void;

/** The storage that the stores of several replicas share. */
export class SharedTaskMemory {
  readonly tasks = new MemoryTaskStore();
  readonly runners = new Map<string, string>();
  readonly requests = new Map<string, TaskRequest>();
  readonly revisions = new Map<string, number>();
  readonly listeners = new Set<Listener>();

  join(replica: string): MemorySharedTaskStore {
    return new MemorySharedTaskStore(this, replica);
  }

  /** Another replica may not take a task of which it has seen an earlier version. */
  countUp(id: string): void {
    this.revisions.set(id, (this.revisions.get(id) ?? 0) + 1);
  }

  notify(id: string): void {
    const task = this.tasks.get(id);
    if (task) for (const listener of [...this.listeners]) listener(task, this.requests.get(id));
  }
}

/** SharedTaskStore in memory, as one replica sees it. */
export class MemorySharedTaskStore extends SharedTaskStore {
  constructor(
    private readonly memory: SharedTaskMemory,
    private readonly replica: string,
  ) {
    super();
  }

  override async put(task: Task, journal?: TaskJournal): Promise<void> {
    const { runners, tasks, requests } = this.memory;
    const runner = runners.get(task.id);
    if (runner !== undefined && runner !== this.replica) throw new TaskTakenOver(`${runner} runs the task now.`);
    // Before anything is awaited: another replica may take the task meanwhile.
    const done = tasks.put(task, journal);
    runners.set(task.id, this.replica);
    this.memory.countUp(task.id);
    requests.delete(task.id);
    await done;
    this.memory.notify(task.id);
  }

  override get(id: string): Task | undefined {
    return this.memory.tasks.get(id);
  }

  override journal(id: string): TaskJournal | undefined {
    return this.memory.tasks.journal(id);
  }

  override running(): readonly Task[] {
    return this.memory.tasks.running();
  }

  override recent(limit: number): readonly Task[] {
    return this.memory.tasks.recent(limit);
  }

  override counts(): readonly TaskCount[] {
    return this.memory.tasks.counts();
  }

  override deleteBefore(time: string): Promise<void> {
    return this.memory.tasks.deleteBefore(time);
  }

  override runOf(id: string): TaskRun | undefined {
    const runner = this.memory.runners.get(id);
    return runner === undefined ? undefined : { runner, revision: this.memory.revisions.get(id) ?? 0 };
  }

  override isRunning(kind: TaskKind, ref: string): boolean {
    return this.running().some((task) => task.kind === kind && task.ref === ref);
  }

  override async take(id: string, { runner, revision }: TaskRun): Promise<Task | undefined> {
    const task = this.get(id);
    const run = this.runOf(id);
    if (task?.status !== 'running' || run?.runner !== runner || run.revision !== revision) return undefined;
    this.memory.runners.set(id, this.replica);
    this.memory.countUp(id);
    this.memory.notify(id);
    return task;
  }

  override async request(id: string, request: TaskRequest): Promise<void> {
    const task = this.get(id);
    if (!task) throw new DomainError('TASK_NOT_FOUND', `There is no task ${id}.`);
    if (task.status !== 'running') throw new DomainError('WRONG_STATE', `The task ${id} has already ended.`);
    this.memory.requests.set(id, request);
    this.memory.countUp(id);
    this.memory.notify(id);
  }

  override subscribe(listener: Listener): () => void {
    this.memory.listeners.add(listener);
    return () => void this.memory.listeners.delete(listener);
  }
}
