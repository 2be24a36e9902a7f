import {
  countMembers,
  DomainError,
  formatImageRef,
  formatRef,
  messageOf,
  ServiceShutdown,
  SILENT_LOG,
  TaskRunner,
  type Caller,
  type Clock,
  type InstanceRef,
  type Log,
  type ImageRef,
  type BackgroundWork,
  type BulkOrder,
  type BulkWork,
  type Task,
  type TaskKind,
  type TaskMember,
  type TaskStore,
} from '@headgate/domain-contracts';
import { RunningTask } from './running-task.js';
import { newTaskId } from './task-id.js';
import type { TaskReader } from './task-reader.js';

/** The error of a task that a restart of the service interrupted. */
export const INTERRUPTED = 'interrupted by a restart';

/** Runs background work as tasks, reports their progress, and marks those that a restart interrupted. */
export class TaskBoard extends TaskRunner implements TaskReader {
  private readonly running = new Map<string, { task: RunningTask; ended: Promise<void> }>();

  constructor(
    private readonly store: TaskStore,
    private readonly clock: Clock,
    private readonly log: Log = SILENT_LOG,
  ) {
    super();
  }

  /** Marks the tasks of an earlier process that never ended as interrupted. Call once, after the store was opened. */
  recover(): void {
    for (const task of this.store.running()) {
      if (this.running.has(task.id)) continue;
      const log = task.log === '' ? INTERRUPTED : `${task.log}\n${INTERRUPTED}`;
      const members = task.members?.map(interrupted);
      const { bulk } = task;
      this.store.put({
        ...task,
        status: 'error',
        error: INTERRUPTED,
        log,
        finishedAt: this.clock.iso(),
        ...(bulk && members ? { bulk: { ...bulk, counts: countMembers(members) }, members } : {}),
      });
    }
  }

  override start(
    kind: Exclude<TaskKind, 'bulk'>,
    subject: InstanceRef | ImageRef,
    caller: Caller,
    work: BackgroundWork,
  ): string {
    const ref = 'kind' in subject ? formatRef(subject) : formatImageRef(subject);
    return this.begin(this.taskOf(kind, subject.name, ref, caller), work);
  }

  override startBulk(order: BulkOrder, refs: readonly string[], caller: Caller, work: BulkWork): string {
    const members = refs.map((ref): TaskMember => ({ ref, status: 'waiting' }));
    const bulk = { ...order, counts: countMembers(members) };
    return this.begin({ ...this.taskOf('bulk', order.action, '', caller), bulk, members }, work);
  }

  override cancel(ref: InstanceRef, reason: Error): void {
    const text = formatRef(ref);
    for (const { task } of this.running.values()) if (task.ref === text) task.cancel(reason);
  }

  override cancelTask(id: string, reason: Error): void {
    const running = this.running.get(id)?.task;
    if (running?.summary.status === 'running') return running.cancel(reason);
    this.get(id);
    throw new DomainError('WRONG_STATE', `The task ${id} has already ended.`);
  }

  override get(id: string): Task {
    const task = this.running.get(id)?.task.current ?? this.store.get(id);
    if (!task) throw new DomainError('TASK_NOT_FOUND', `There is no task ${id.slice(0, 200)}.`);
    return task;
  }

  recent(limit: number): Task[] {
    return this.store.recent(limit).map((task) => this.running.get(task.id)?.task.summary ?? task);
  }

  /** Cancels all running work and waits until it ended. */
  async close(): Promise<void> {
    const left = [...this.running.values()];
    for (const { task } of left) task.cancel(new ServiceShutdown(INTERRUPTED));
    await Promise.all(left.map(({ ended }) => ended));
  }

  private taskOf(kind: TaskKind, name: string, ref: string, caller: Caller): Task {
    return {
      id: newTaskId(kind, name, this.clock.now()),
      kind,
      status: 'running',
      log: '',
      error: '',
      ref,
      caller: caller.login,
      startedAt: this.clock.iso(),
      finishedAt: null,
      progress: null,
      steps: [],
    };
  }

  private begin(begun: Task, work: BulkWork): string {
    const task = new RunningTask(begun, this.store, this.clock, this.log);
    this.running.set(begun.id, { task, ended: this.run(task, work) });
    return begun.id;
  }

  private async run(task: RunningTask, work: BulkWork): Promise<void> {
    const failed = (error: unknown): boolean => task.end(messageOf(task.signal.aborted ? task.signal.reason : error));
    // The caller of `start` gets the ID before the work can end.
    const written = await Promise.resolve()
      .then(() => work(task))
      .then(() => task.end(), failed);
    const { id, kind, status, error } = task.summary;
    // A task whose end is not in the store is served from memory.
    if (written) this.running.delete(id);
    this.log.info({ id, kind, status, error }, 'task ended');
  }
}

/** A process that was killed wrote the results of its last second nowhere. */
const interrupted = (member: TaskMember): TaskMember =>
  member.status === 'waiting' || member.status === 'running'
    ? { ref: member.ref, status: 'error', error: 'Interrupted by a restart. It may have been carried out.' }
    : member;
