import {
  messageOf,
  ServiceShutdown,
  TaskTakenOver,
  type Clock,
  type Log,
  type Task,
  type TaskMember,
  type TaskReporter,
  type TaskStep,
  type TaskStore,
} from '@headgate/domain-contracts';
import { toStored, type LiveJournal } from './live-journal.js';
import { TaskLog, type LogPart } from './task-log.js';
import { TaskMembers } from './task-members.js';
import type { LiveTask } from './task-reader.js';
import type { PastTimes } from './times/past-times.js';
import { TaskTimer, type StepTimes } from './times/task-timer.js';
import { TransferMeter } from './transfer-meter.js';

/** The error of a task that a restart of the service interrupted. */
export const INTERRUPTED = 'interrupted by a restart';
/** The error of a member whose work had begun then. */
export const MAY_HAVE_RUN = 'Interrupted by a restart. It may have been carried out.';

/** How long progress and log lines may wait before they are written to the store, in milliseconds. */
const FLUSH_INTERVAL_MS = 1000;

export interface RunDeps {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the end of a task is in the store. Must not throw. */
  readonly onEnd?: (task: Task) => void;
  /** Called when a task was created, and when anything but its log has changed. Must not throw. */
  readonly onChange?: (task: Pick<RunningTask, 'summary'>) => void;
  /** One sentence about the present state of an instance or image, if it is known. */
  readonly describe?: (ref: string) => string | undefined;
  /** Promises how long new tasks and their steps take. */
  readonly times?: Pick<PastTimes, 'ofNewTask' | 'total' | 'step' | 'bulk'>;
}

/**
 * The state of a running task: it journals each step before the step starts, and writes progress and log lines at
 * intervals.
 */
export class RunningTask implements TaskReporter, LiveTask {
  private readonly abort = new AbortController();
  private readonly shutdown = new AbortController();
  private readonly lines: TaskLog;
  private readonly listeners = new Set<() => void>();
  private meter: TransferMeter;
  private cancelFlush: (() => void) | undefined;
  private isDetached = false;
  private isEndReported = false;
  /** The fields and the members at the last `onChange`. */
  private reported: { readonly task: Task; readonly membersVersion: number } | undefined;
  /** Writes run one after the other. */
  private writing: Promise<unknown> = Promise.resolve();
  private stepped: Promise<void> = Promise.resolve();
  /** Absent for a task of an earlier process, whose time includes that without one. */
  private timer: TaskTimer | undefined;
  /** Whether everything is in the store. */
  isWritten = false;
  readonly members: TaskMembers | undefined;

  constructor(
    private task: Task,
    private readonly deps: RunDeps,
  ) {
    this.lines = new TaskLog(task.log);
    this.meter = new TransferMeter(deps.clock);
    this.members = task.members && new TaskMembers(task.members);
  }

  /**
   * Journals the new task with all its members.
   * @param variant of the work of the request that starts it
   * @throws when the store can't be written
   */
  async create(journal?: LiveJournal, variant?: string): Promise<void> {
    const { times, clock } = this.deps;
    const timedAs = times?.ofNewTask(variant);
    const promised = timedAs && times?.total(timedAs);
    this.task = { ...this.task, ...(timedAs && { timedAs }), ...(promised && { promised }) };
    this.timer = new TaskTimer(clock);
    await this.deps.store.put(this.current, journal && toStored(journal));
    this.report();
  }

  get current(): Task {
    const task = { ...this.summary, log: this.lines.text() };
    return this.members ? { ...task, members: this.members.all() } : task;
  }

  /** Without the log and the members. */
  get summary(): Task {
    const { members: _members, bulk, ...task } = this.task;
    return { ...task, ...(bulk && this.members ? { bulk: { ...bulk, counts: this.members.counts } } : {}), log: '' };
  }

  get logEnd(): number {
    return this.lines.end;
  }

  logSince(offset: number): LogPart {
    return this.lines.since(offset);
  }

  get membersVersion(): number {
    return this.members?.version ?? 0;
  }

  membersSince(version: number): readonly TaskMember[] {
    return this.members?.since(version) ?? [];
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  get ref(): string {
    return this.task.ref;
  }

  /** Aborted when the task is canceled or the service shuts down. */
  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** Aborted when the service shuts down, also after the task was canceled. */
  get shutdownSignal(): AbortSignal {
    return this.shutdown.signal;
  }

  /** Whether this process writes nothing more about the task. */
  get isAbandoned(): boolean {
    return this.isDetached;
  }

  get isEnded(): boolean {
    return this.task.status !== 'running';
  }

  /** Aborts the work; the task ends with this error. */
  cancel(reason: Error): void {
    this.abort.abort(reason);
  }

  /** Aborts the work because the service shuts down. */
  stop(): void {
    const reason = new ServiceShutdown(INTERRUPTED);
    this.shutdown.abort(reason);
    this.abort.abort(reason);
  }

  /** Ignores all further reports of work that did not end in time. */
  detach(): void {
    this.isDetached = true;
    this.cancelFlush?.();
  }

  step(name: string): void {
    this.beginStep(name);
    const saved = this.save();
    this.stepped = saved;
    saved.catch((error: unknown) => this.cancel(error as Error));
  }

  /** Resolves when the last step of work without a journal is in the store. @throws when it can't be written */
  whenStepped(): Promise<void> {
    return this.stepped;
  }

  /** Begins a step without writing it. */
  beginStep(name: string): void {
    const { clock, times } = this.deps;
    const now = clock.iso();
    const { transfer: _transfer, waitsFor: _waitsFor, ...task } = this.task;
    this.meter = new TransferMeter(clock);
    const promised = task.timedAs && times?.step(task.timedAs, name);
    const step: TaskStep = { name, startedAt: now, ...(promised && { promised }) };
    this.task = { ...task, steps: [...finished(task.steps, now, this.timer?.next()), step] };
    this.lines.append(name);
    this.notify();
  }

  /** A part of the running step begins. */
  part(name: string): void {
    this.timer?.beginPart(name);
    this.log(name);
  }

  log(line: string): void {
    this.lines.append(line);
    this.flushSoon();
  }

  mask(secret: string): void {
    this.lines.secrets.add(secret);
  }

  progress(fraction: number): void {
    if (!Number.isFinite(fraction)) return;
    this.update({ progress: Math.min(1, Math.max(0, fraction)) });
  }

  bytes(doneBytes: number, totalBytes?: number): void {
    this.update({ transfer: this.meter.report(doneBytes, totalBytes) });
  }

  member(member: TaskMember): void {
    this.members?.set(
      member.error === undefined ? member : { ...member, error: this.lines.secrets.text(member.error) },
    );
    this.flushSoon();
  }

  /** It waits for something that does not belong to it: how long it takes does not count. */
  delay(): void {
    this.timer?.delay();
  }

  /** Changes fields that are written at intervals. */
  update(fields: Partial<Task>): void {
    if (fields.waiting !== undefined) this.delay();
    this.task = { ...this.task, ...fields };
    this.flushSoon();
  }

  /** Writes everything now. @throws when the store can't be written */
  save(journal?: LiveJournal): Promise<void> {
    const done = this.writing.then(() => this.saveNow(journal));
    this.writing = done.catch(() => undefined);
    return done;
  }

  /** @returns whether the end is in the store: a full disk must neither stop the service nor hide the outcome */
  async end(error?: string, result?: object): Promise<boolean> {
    const now = this.deps.clock.iso();
    const masked = error === undefined ? '' : this.lines.secrets.text(error);
    for (const { ref, status } of this.members?.all() ?? [])
      if (status === 'waiting') this.members?.set({ ref, status: 'skipped', error: masked });
    const { waiting: _waiting, transfer: _transfer, cancelable: _cancelable, ...running } = this.task;
    const { waitsFor: _waitsFor, cancelRefusal: _cancelRefusal, ...task } = running;
    const [tookSeconds, stepTimes] = error === undefined ? [this.timer?.total(), this.timer?.next()] : [];
    this.task = {
      ...task,
      status: error === undefined ? 'done' : 'error',
      error: masked,
      progress: error === undefined ? 1 : task.progress,
      steps: finished(task.steps, now, stepTimes),
      finishedAt: now,
      ...(tookSeconds !== undefined && { tookSeconds }),
      ...(result ? { result } : {}),
    };
    if (error !== undefined) this.lines.append(error);
    this.notify();
    return this.write();
  }

  /** Writes everything now, if the store can be written. */
  async write(): Promise<boolean> {
    try {
      await this.save();
      return true;
    } catch (error) {
      this.warn(error);
      return false;
    }
  }

  warn(error: unknown): void {
    this.deps.log.warn({ id: this.task.id, reason: messageOf(error) }, 'writing the task failed');
  }

  private flushSoon(): void {
    if (this.isDetached) return;
    this.cancelFlush ??= this.deps.clock.after(FLUSH_INTERVAL_MS, () => {
      this.cancelFlush = undefined;
      void this.write();
    });
    this.notify();
  }

  private async saveNow(journal?: LiveJournal): Promise<void> {
    if (this.isDetached) throw new Error('The service was stopped.');
    const { store } = this.deps;
    const task = { ...this.summary, log: this.lines.text() };
    const stored = journal && toStored(journal);
    this.cancelFlush?.();
    this.cancelFlush = undefined;
    // Changes that happen while this is written have to be written again.
    this.isWritten = true;
    try {
      if (this.members) await this.members.write((members) => store.put({ ...task, members }, stored));
      else await store.put(task, stored);
    } catch (error) {
      this.isWritten = false;
      if (error instanceof TaskTakenOver) this.abandon();
      throw error;
    }
    this.emit();
    if (task.status === 'running' || this.isEndReported) return;
    this.isEndReported = true;
    this.deps.onEnd?.(task);
  }

  /** Stops the work and writes nothing more: another replica has the task. */
  private abandon(): void {
    this.stop();
    this.detach();
  }

  private notify(): void {
    this.isWritten = false;
    this.emit();
  }

  private emit(): void {
    for (const listener of this.listeners) listener();
    this.report();
  }

  private report(): void {
    const { task, membersVersion, reported } = this;
    if (this.isDetached || (reported?.task === task && reported.membersVersion === membersVersion)) return;
    this.reported = { task, membersVersion };
    this.deps.onChange?.(this);
  }
}

/** @param times of the step that ends, if they count */
const finished = (steps: readonly TaskStep[], now: string, times: StepTimes = {}): TaskStep[] =>
  steps.map((step) => (step.finishedAt === undefined ? { ...step, finishedAt: now, ...times } : step));
