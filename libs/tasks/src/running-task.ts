import {
  countMembers,
  messageOf,
  type BulkReporter,
  type Clock,
  type Log,
  type Task,
  type TaskMember,
  type TaskStep,
  type TaskStore,
} from '@headgate/domain-contracts';
import { TaskLog } from './task-log.js';

/** How long progress and log lines may wait before they are written to the store, in milliseconds. */
const FLUSH_INTERVAL_MS = 1000;

/** A running task, or bulk task. It journals each step before the step starts, and writes progress and log lines at intervals. */
export class RunningTask implements BulkReporter {
  private readonly abort = new AbortController();
  private readonly lines = new TaskLog();
  private cancelFlush: (() => void) | undefined;

  private readonly members: Map<string, TaskMember> | undefined;

  constructor(
    private task: Task,
    private readonly store: TaskStore,
    private readonly clock: Clock,
    private readonly operator: Log,
  ) {
    this.members = task.members && new Map(task.members.map((member) => [member.ref, member]));
    store.put(task);
  }

  get current(): Task {
    return this.members ? { ...this.summary, members: [...this.members.values()] } : this.summary;
  }

  /** Without the members. */
  get summary(): Task {
    const { members: _members, bulk, ...task } = this.task;
    const counted = bulk && this.members ? { bulk: { ...bulk, counts: countMembers(this.members.values()) } } : {};
    return { ...task, ...counted, log: this.lines.text() };
  }

  get ref(): string {
    return this.task.ref;
  }

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** Aborts the work; the task ends with this error. */
  cancel(reason: Error): void {
    this.abort.abort(reason);
  }

  step(name: string): void {
    const now = this.clock.iso();
    this.task = { ...this.task, steps: [...finished(this.task.steps, now), { name, startedAt: now }] };
    this.lines.append(name);
    this.store.put(this.current);
  }

  log(line: string): void {
    this.lines.append(line);
    this.flushSoon();
  }

  progress(fraction: number): void {
    this.task = { ...this.task, progress: Math.min(1, Math.max(0, fraction)) };
    this.flushSoon();
  }

  member(ref: string, result: Omit<TaskMember, 'ref'>): void {
    if (!this.members?.has(ref)) throw new Error(`${ref} is not a member of ${this.task.id}`);
    this.members.set(ref, { ref, ...result });
    this.flushSoon();
  }

  /** @returns whether the end is in the store: a full disk must neither stop the service nor hide the outcome */
  end(error?: string): boolean {
    this.cancelFlush?.();
    const now = this.clock.iso();
    for (const { ref, status } of this.members?.values() ?? []) {
      if (status === 'waiting') this.members?.set(ref, { ref, status: 'skipped', error });
    }
    this.task = {
      ...this.task,
      status: error === undefined ? 'done' : 'error',
      error: error ?? '',
      progress: error === undefined ? 1 : this.task.progress,
      steps: finished(this.task.steps, now),
      finishedAt: now,
    };
    if (error !== undefined) this.lines.append(error);
    return this.write();
  }

  private flushSoon(): void {
    this.cancelFlush ??= this.clock.after(FLUSH_INTERVAL_MS, () => {
      this.cancelFlush = undefined;
      this.write();
    });
  }

  private write(): boolean {
    try {
      this.store.put(this.current);
      return true;
    } catch (error) {
      this.operator.warn({ id: this.task.id, reason: messageOf(error) }, 'writing the task failed');
      return false;
    }
  }
}

const finished = (steps: readonly TaskStep[], now: string): TaskStep[] =>
  steps.map((step) => (step.finishedAt === undefined ? { ...step, finishedAt: now } : step));
