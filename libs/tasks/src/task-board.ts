import {
  countMembers,
  DomainError,
  formatImageRef,
  formatRef,
  messageOf,
  SILENT_LOG,
  TaskRunner,
  type BackgroundWork,
  type BulkOrder,
  type Caller,
  type Clock,
  type DefinedTask,
  type ImageRef,
  type InstanceRef,
  type Log,
  type MemberWork,
  type Task,
  type TaskCount,
  type TaskDefinition,
  type TaskJournal,
  type TaskKind,
  type TaskMember,
  type TaskOrder,
  type TaskStore,
} from '@headgate/domain-contracts';
import { BulkRun } from './bulk-run.js';
import { recoverTasks, type RecoveredTask } from './recover-tasks.js';
import { RunningTask, type RunDeps } from './running-task.js';
import { canceled, json, notCancelable, StepsRun, type RunOutcome } from './steps-run.js';
import { newTaskId } from './task-id.js';
import type { LiveTask, TaskReader } from './task-reader.js';

/** Ended tasks are deleted after this time. */
const RETENTION_MS = 90 * 86_400_000;
const RETENTION_INTERVAL_MS = 3_600_000;
/** How long a shutdown waits for work that does not stop. The journal says how far it has come. */
const STOP_TIMEOUT_MS = 5_000;
const END_RETRY_MS = 10_000;
/** The version of the journals of bulk tasks. */
const BULK_VERSION = 1;

/** Kinds whose work leaves everything as it was when it is canceled, although it has no journal. */
const CANCELABLE_KINDS: ReadonlySet<TaskKind> = new Set(['migrate', 'disk']);

interface Run {
  readonly task: RunningTask;
  readonly ended: Promise<void>;
  readonly steps?: StepsRun;
  readonly bulk?: BulkRun;
}

/** Runs background work as tasks, reports their progress, and continues or ends those that a restart interrupted. */
export class TaskBoard extends TaskRunner implements TaskReader {
  private readonly runs = new Map<string, Run>();
  private readonly definitions = new Map<TaskKind, TaskDefinition>();
  private readonly deps: RunDeps;
  private memberWork: MemberWork | undefined;
  private recovered: readonly RecoveredTask[] = [];
  private stopRetention: (() => void) | undefined;
  private isClosed = false;

  constructor(
    private readonly store: TaskStore,
    private readonly clock: Clock,
    private readonly log: Log = SILENT_LOG,
  ) {
    super();
    this.deps = { store, clock, log };
  }

  override define<Input extends object>(definition: TaskDefinition<Input>): DefinedTask<Input> {
    const { kind } = definition;
    if (this.definitions.has(kind)) throw new Error(`Tasks of the kind ${kind} are already defined.`);
    const known = definition as unknown as TaskDefinition;
    this.definitions.set(kind, known);
    return { start: (order, caller) => this.startSteps(known, order, caller) };
  }

  override defineBulk(work: MemberWork): void {
    this.memberWork = work;
  }

  /**
   * Ends the tasks of an earlier process that can't continue, and remembers the others for `resume`. Call once, after the store was
   * opened.
   */
  recover(): void {
    const versionOf = (kind: TaskKind): number | undefined => {
      if (kind === 'bulk') return this.memberWork && BULK_VERSION;
      const definition = this.definitions.get(kind);
      return definition && (definition.version ?? 1);
    };
    this.recovered = recoverTasks(this.deps, versionOf, (id) => this.runs.has(id));
    this.deleteOld();
    this.stopRetention = this.clock.every(RETENTION_INTERVAL_MS, () => this.deleteOld());
  }

  /** Continues or rolls back the tasks of an earlier process. Call when the backends can be used. */
  resume(): void {
    const { recovered } = this;
    this.recovered = [];
    if (this.isClosed) return;
    for (const { task, journal } of recovered) this.beginJournaled(new RunningTask(task, this.deps), journal, true);
  }

  override start(
    kind: Exclude<TaskKind, 'bulk'>,
    subject: InstanceRef | ImageRef,
    caller: Caller,
    work: BackgroundWork,
  ): string {
    const ref = 'kind' in subject ? formatRef(subject) : formatImageRef(subject);
    const task = new RunningTask(
      { ...this.taskOf(kind, subject.name, ref, caller), cancelable: CANCELABLE_KINDS.has(kind) },
      this.deps,
    );
    expectWritable(() => task.create());
    const failed = (error: unknown): void => void task.end(messageOf(task.signal.aborted ? task.signal.reason : error));
    const run = (): Promise<RunOutcome> =>
      Promise.resolve()
        .then(() => work(task))
        .then(() => void task.end(), failed)
        .then(() => 'ended');
    return this.begin(task, run, {});
  }

  override startBulk(order: BulkOrder, refs: readonly string[], caller: Caller): string {
    const members = refs.map((ref): TaskMember => ({ ref, status: 'waiting' }));
    const bulk = { ...order, counts: countMembers(members) };
    const { id, ...rest } = this.taskOf('bulk', order.action, '', caller);
    const task = new RunningTask({ id, ...rest, cancelable: true, bulk, members }, this.deps);
    const journal: TaskJournal = { task: id, version: BULK_VERSION, caller, input: json(order), steps: [] };
    expectWritable(() => task.create(journal));
    return this.beginJournaled(task, journal, false);
  }

  override pauseBulk(id: string, isPaused: boolean): void {
    const { bulk } = this.expectRunning(id);
    if (!bulk) throw new DomainError('WRONG_STATE', `The task ${id} can't be paused; only bulk tasks can.`);
    expectWritable(() => bulk.pause(isPaused));
  }

  override cancel(ref: InstanceRef, reason: Error): void {
    const text = formatRef(ref);
    // Steps that were journaled find out on their own that the instance is gone, or have deleted it.
    for (const { task, steps } of this.runs.values()) if (!steps && task.ref === text) task.cancel(reason);
  }

  override cancelTask(id: string, caller: Caller): void {
    if (this.get(id).canceledBy !== undefined) return;
    const { task, steps, bulk } = this.expectRunning(id);
    const journaled = steps ?? bulk;
    if (journaled) return expectWritable(() => journaled.cancel(caller));
    if (!task.summary.cancelable) throw notCancelable(id, task.summary.steps.at(-1)?.name);
    task.update({ canceledBy: caller.login, cancelable: false });
    task.cancel(canceled(caller.login));
  }

  override get(id: string): Task {
    const task = this.runs.get(id)?.task.current ?? this.store.get(id);
    if (!task) throw new DomainError('TASK_NOT_FOUND', `There is no task ${id.slice(0, 200)}.`);
    return task;
  }

  live(id: string): LiveTask | undefined {
    return this.runs.get(id)?.task;
  }

  recent(limit: number): Task[] {
    return this.store.recent(limit).map((task) => this.runs.get(task.id)?.task.summary ?? task);
  }

  counts(): readonly TaskCount[] {
    return this.store.counts();
  }

  /**
   * Stops all running work and waits until it has stopped, or for 5 seconds. Tasks with a journal continue after the next start, the
   * others end.
   */
  async close(): Promise<void> {
    this.isClosed = true;
    this.stopRetention?.();
    const left = [...this.runs.values()].filter(({ task }) => !task.isEnded);
    for (const { task } of left) task.stop();
    const timeout = Promise.withResolvers<void>();
    const cancel = this.clock.after(STOP_TIMEOUT_MS, timeout.resolve);
    await Promise.race([Promise.all(left.map(({ ended }) => ended)), timeout.promise]);
    cancel();
    for (const { task } of this.runs.values()) task.detach();
  }

  private startSteps<Input extends object>(
    definition: TaskDefinition,
    { name, ref, input }: TaskOrder<Input>,
    caller: Caller,
  ): string {
    const { id, ...rest } = this.taskOf(definition.kind, name, ref, caller);
    const { version = 1 } = definition;
    const journal: TaskJournal = { task: id, version, caller, input: json<object>(input), steps: [] };
    const task = new RunningTask({ id, ...rest, cancelable: true }, this.deps);
    const run = new StepsRun(definition, task, journal, this.deps);
    expectWritable(() => task.create(journal));
    return this.begin(task, () => run.run(false), { steps: run });
  }

  private beginJournaled(task: RunningTask, journal: TaskJournal, isRecovered: boolean): string {
    const { id, kind } = task.summary;
    const definition = this.definitions.get(kind);
    if (kind === 'bulk' && this.memberWork) {
      const bulk = new BulkRun(this.memberWork, task, journal as TaskJournal<BulkOrder>, this.deps);
      return this.begin(task, () => bulk.run(isRecovered), { bulk });
    }
    if (!definition) throw new Error(`Tasks of the kind ${kind} are not defined; ${id} can't run.`);
    try {
      const steps = new StepsRun(definition, task, journal, this.deps);
      return this.begin(task, () => steps.run(isRecovered), { steps });
    } catch (error) {
      task.end(messageOf(error));
      return this.begin(task, () => Promise.resolve('ended'), {});
    }
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

  private begin(task: RunningTask, run: () => Promise<RunOutcome>, parts: Pick<Run, 'steps' | 'bulk'>): string {
    const { id } = task.summary;
    // The caller gets the ID before the work can end.
    const ended = Promise.resolve()
      .then(run)
      .then((outcome) => this.settle(task, outcome));
    this.runs.set(id, { task, ended, ...parts });
    return id;
  }

  private settle(task: RunningTask, outcome: RunOutcome): void {
    const { id, kind, status, error } = task.summary;
    // Otherwise the task is served from memory, and its end is written later.
    if (outcome === 'suspended' || task.isWritten) {
      task.write();
      this.runs.delete(id);
    } else {
      this.retryEnd(task);
    }
    if (outcome === 'suspended') this.log.info({ id, kind }, 'task suspended');
    else this.log.info({ id, kind, status, error }, 'task ended');
  }

  private retryEnd(task: RunningTask): void {
    this.clock.after(END_RETRY_MS, () => {
      if (this.isClosed) return;
      if (task.write()) this.runs.delete(task.summary.id);
      else this.retryEnd(task);
    });
  }

  private expectRunning(id: string): Run {
    const run = this.runs.get(id);
    if (run && !run.task.isEnded) return run;
    const isRecovered = this.recovered.some(({ task }) => task.id === id);
    if (isRecovered)
      throw new DomainError('WRONG_STATE', `The task ${id} is about to continue after a restart; try again soon.`);
    this.get(id);
    throw new DomainError('WRONG_STATE', `The task ${id} has already ended.`);
  }

  private deleteOld(): void {
    try {
      this.store.deleteBefore(new Date(this.clock.now() - RETENTION_MS).toISOString());
    } catch (error) {
      this.log.warn({ reason: messageOf(error) }, 'deleting old tasks failed');
    }
  }
}

/** @throws DomainError NOT_READY when the store can't be written; nothing has changed then */
function expectWritable(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw new DomainError('NOT_READY', `The journal of the task can't be written: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}
