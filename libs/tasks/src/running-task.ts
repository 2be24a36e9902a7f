import {
  messageOf,
  type Clock,
  type Log,
  type Task,
  type TaskReporter,
  type TaskStep,
  type TaskStore,
} from '@headgate/domain-contracts';
import { TaskLog } from './task-log.js';

/** How often progress and log lines are written to the store while nothing else is, in milliseconds. */
const FLUSH_EVERY = 1000;

/** A task at work: it reports into memory, journals each step before it begins, and writes the rest now and then. */
export class RunningTask implements TaskReporter {
  private readonly abort = new AbortController();
  private readonly lines = new TaskLog();
  private cancelFlush: (() => void) | undefined;

  constructor(
    private task: Task,
    private readonly store: TaskStore,
    private readonly clock: Clock,
    private readonly operator: Log,
  ) {
    store.put(task);
  }

  get current(): Task {
    return { ...this.task, log: this.lines.text() };
  }

  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** Asks the work to end; it ends as an error with this sentence. */
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

  /** @returns whether its end is in the store: a full disk must not end the service, or hide how the work ended */
  end(error?: string): boolean {
    this.cancelFlush?.();
    const now = this.clock.iso();
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
    this.cancelFlush ??= this.clock.after(FLUSH_EVERY, () => {
      this.cancelFlush = undefined;
      this.write();
    });
  }

  private write(): boolean {
    try {
      this.store.put(this.current);
      return true;
    } catch (error) {
      this.operator.warn({ id: this.task.id, reason: messageOf(error) }, 'task not written');
      return false;
    }
  }
}

const finished = (steps: readonly TaskStep[], now: string): TaskStep[] =>
  steps.map((step) => (step.finishedAt === undefined ? { ...step, finishedAt: now } : step));
