import {
  countMembers,
  DomainError,
  formatImageRef,
  formatRef,
  messageOf,
  SILENT_LOG,
  SingleReplica,
  TaskRunner,
  type Author,
  type BackgroundWork,
  type BulkOrder,
  type Caller,
  type Clock,
  type DefinedTask,
  type ImageRef,
  type InstanceRef,
  type Log,
  type MemberTasks,
  type MemberWork,
  type Replicas,
  type Reservation,
  type Reservations,
  type Task,
  type TaskCount,
  type TaskDefinition,
  type TaskKind,
  type TaskMember,
  type TaskOrder,
  type TaskRequest,
  type TaskStore,
} from '@headgate/domain-contracts';
import { BulkRun, type BulkWork } from './bulk-run.js';
import { HostSlots } from './host-slots.js';
import type { LiveJournal } from './live-journal.js';
import type { MemberTaskRuns } from './queued-members.js';
import { recoverTasks, type RecoveredTask } from './recover-tasks.js';
import { RunningTask, type RunDeps } from './running-task.js';
import { canceled, committed, json, notCancelable, StepsRun, type RunOutcome } from './steps-run.js';
import { explainStalled, observed, Stalled, watch } from './watchdog.js';
import { PATIENCE } from './patience.js';
import { SharedTasks } from './shared-tasks.js';
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
  private readonly queues = new Map<string, MemberTasks>();
  private readonly slots = new HostSlots();
  private recovered: readonly RecoveredTask[] = [];
  private readonly shared: SharedTasks;
  /** Tasks that are journaled, but do not run yet. */
  private readonly starting = new Set<string>();
  private readonly endListeners = new Set<(task: Task) => void>();
  private stopRetention: (() => void) | undefined;
  private isClosed = false;
  private describe: RunDeps['describe'];

  constructor(
    private readonly store: TaskStore,
    private readonly clock: Clock,
    private readonly log: Log = SILENT_LOG,
    private readonly replicas: Replicas = new SingleReplica(),
    private readonly reservations?: Reservations,
  ) {
    super();
    const onEnd = (task: Task): void => {
      this.reservations?.endTask(task.id);
      for (const listener of this.endListeners) listener(task);
    };
    this.deps = { store, clock, log, onEnd, describe: (ref) => this.describe?.(ref) };
    this.shared = new SharedTasks({
      ...{ store, clock, log, replicas, onEnd },
      onSeen: (task) => this.adopt(task, false),
      runsHere: (id) => this.runs.has(id) || this.starting.has(id),
      continueTask: async (task) => this.beginRecovered(await recoverTasks([task], this.deps, this.versionOf)),
      carryOut: (id, request) => this.carryOut(id, request),
    });
  }

  /** @param listener called when the end of a task is in the store, also of one that another replica runs. Must not throw */
  onEnd(listener: (task: Task) => void): void {
    this.endListeners.add(listener);
  }

  /** @param describe one sentence about the present state of an instance or image, for tasks that are ended because they make no progress */
  describeWith(describe: (ref: string) => string | undefined): void {
    this.describe = describe;
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

  override defineQueue(work: MemberTasks): void {
    this.queues.set(work.kind, work);
  }

  /**
   * Ends the tasks of an earlier process that can't continue, and remembers the others for `resume`. Call once, after the store was
   * opened. The tasks of a shared store belong to other replicas.
   */
  async recover(): Promise<void> {
    if (this.shared.isShared) this.shared.follow();
    else {
      const left = this.store.running().filter(({ id }) => !this.runs.has(id));
      this.recovered = await recoverTasks(left, this.deps, this.versionOf);
      for (const { task } of this.recovered) this.adopt(task, true);
    }
    await this.deleteOld();
    const stopTicks = this.clock.every(RETENTION_INTERVAL_MS, () => void this.deleteOld());
    const unsubscribe = this.replicas.subscribe({ left: () => this.suspend() });
    this.stopRetention = () => {
      stopTicks();
      unsubscribe();
    };
  }

  /** Continues or rolls back the tasks of an earlier process. Call when the backends can be used. A queue finds the tasks of its members. */
  resume(): void {
    const { recovered } = this;
    this.recovered = [];
    if (this.isClosed) return;
    this.beginRecovered(recovered);
    this.shared.startTakingOver();
  }

  override async start(
    kind: Exclude<TaskKind, 'bulk'>,
    subject: InstanceRef | ImageRef,
    caller: Caller,
    work: BackgroundWork,
    reservation?: Reservation,
  ): Promise<string> {
    const ref = 'kind' in subject ? formatRef(subject) : formatImageRef(subject);
    const task = new RunningTask(
      {
        ...this.taskOf(kind, subject.name, ref, caller),
        ...{ cancelable: CANCELABLE_KINDS.has(kind), ...reservedBy(reservation) },
      },
      this.deps,
    );
    const patience = PATIENCE[kind];
    const failed = (error: unknown) => {
      const reason: unknown = task.signal.aborted ? task.signal.reason : error;
      if (!(reason instanceof Stalled)) return task.end(messageOf(reason));
      const finished = task.summary.steps.slice(0, -1).map(({ name }) => name);
      return task.end(
        explainStalled(error instanceof Stalled ? error : reason, { ref: task.ref, finished }, this.deps),
      );
    };
    const run = (): Promise<RunOutcome> =>
      watch({ task, clock: this.clock, patience }, (observe) => work(observed(task, observe)))
        .then(() => task.whenStepped())
        .then(() => task.end(), failed)
        .then(() => 'ended');
    return this.create(task, undefined, () => this.begin(task, run, {}), reservation);
  }

  override async startBulk(order: BulkOrder, refs: readonly string[], caller: Caller): Promise<string> {
    const members = refs.map((ref): TaskMember => ({ ref, status: 'waiting' }));
    const bulk = { ...order, counts: countMembers(members) };
    const { id, ...rest } = this.taskOf('bulk', order.action, '', caller);
    const task = new RunningTask({ id, ...rest, cancelable: true, bulk, members }, this.deps);
    const journal: LiveJournal = { task: id, version: BULK_VERSION, caller, input: json(order), steps: [] };
    return this.create(task, journal, () => this.beginJournaled(task, journal, false));
  }

  override async pauseBulk(id: string, isPaused: boolean): Promise<void> {
    const stored = this.get(id);
    if (this.shared.isElsewhere(stored)) return this.shared.pause(stored, isPaused);
    const { bulk } = this.expectRunning(id);
    if (!bulk) throw new DomainError('WRONG_STATE', `The task ${id} can't be paused; only bulk tasks can.`);
    await expectWritable(() => bulk.pause(isPaused));
  }

  override cancel(ref: InstanceRef, reason: Error): void {
    const text = formatRef(ref);
    // Steps that were journaled find out on their own that the instance is gone, or have deleted it.
    for (const { task, steps } of this.runs.values()) if (!steps && task.ref === text) task.cancel(reason);
  }

  override async cancelTask(id: string, caller: Author): Promise<void> {
    const stored = this.get(id);
    if (stored.canceledBy !== undefined) return;
    if (this.shared.isElsewhere(stored)) return this.shared.cancel(stored, caller.login);
    const { task, steps, bulk } = this.expectRunning(id);
    const journaled = steps ?? bulk;
    if (journaled) return expectWritable(() => journaled.cancel(caller));
    const { cancelable, cancelRefusal, steps: begun } = task.summary;
    if (cancelRefusal !== undefined) throw committed(id, cancelRefusal);
    if (!cancelable) throw notCancelable(id, begun.at(-1)?.name);
    task.update({ canceledBy: caller.login, cancelable: false });
    task.cancel(canceled(caller.login));
  }

  override get(id: string): Task {
    const task = this.runs.get(id)?.task.current ?? this.store.get(id);
    if (!task) throw new DomainError('TASK_NOT_FOUND', `There is no task ${id.slice(0, 200)}.`);
    return task;
  }

  override async whenEnded(id: string): Promise<void> {
    // It may run in another replica, or be taken over.
    await this.shared.whenHereOrEnded(id);
    await this.runs.get(id)?.ended;
  }

  live(id: string): LiveTask | undefined {
    return this.runs.get(id)?.task ?? this.shared.live(id);
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
    this.shared.close();
    const left = this.suspend();
    const timeout = Promise.withResolvers<void>();
    const cancel = this.clock.after(STOP_TIMEOUT_MS, timeout.resolve);
    await Promise.race([Promise.all(left.map(({ ended }) => ended)), timeout.promise]);
    cancel();
    for (const { task } of this.runs.values()) task.detach();
  }

  /** Stops all running work. @returns the runs that have not ended */
  private suspend(): Run[] {
    const left = [...this.runs.values()].filter(({ task }) => !task.isEnded);
    for (const { task } of left) task.stop();
    this.shared.stopWaiting();
    return left;
  }

  private async startSteps<Input extends object>(
    definition: TaskDefinition,
    order: TaskOrder<Input>,
    caller: Caller,
  ): Promise<string> {
    const { name, ref, input, reservation } = order;
    const { id: newId, ...rest } = this.taskOf(definition.kind, name, ref, caller);
    const { id = newId } = order;
    const { version = 1 } = definition;
    const journal: LiveJournal = { task: id, version, caller, input: json<object>(input), steps: [] };
    const task = new RunningTask({ id, ...rest, cancelable: true, ...reservedBy(reservation) }, this.deps);
    const run = new StepsRun(definition, task, journal, this.deps);
    return this.create(task, journal, () => this.begin(task, () => run.run(false), { steps: run }), reservation);
  }

  /** Journals a new task and begins it. @throws DomainError NOT_READY; nothing has begun then */
  private async create(
    task: RunningTask,
    journal: LiveJournal | undefined,
    begin: () => string,
    reservation?: Reservation,
  ): Promise<string> {
    const { id } = task.summary;
    if (!this.replicas.isMember)
      throw new DomainError('NOT_READY', 'This replica does not reach the store of the cluster; try again soon.');
    this.starting.add(id);
    try {
      await expectWritable(() => task.create(journal));
      reservation?.giveTo(id);
      if (this.isClosed || !this.replicas.isMember) task.stop();
      return begin();
    } finally {
      this.starting.delete(id);
    }
  }

  private readonly versionOf = (kind: TaskKind): number | undefined => {
    if (kind === 'bulk') return this.memberWork && BULK_VERSION;
    const definition = this.definitions.get(kind);
    return definition && (definition.version ?? 1);
  };

  private beginRecovered(recovered: readonly RecoveredTask[]): void {
    for (const { task, journal } of recovered) {
      const running = new RunningTask(task, this.deps);
      this.adopt(task, true);
      this.shared.followHere(task.id, running);
      this.beginJournaled(running, journal, true);
    }
  }

  /** A request that this replica has received for another one, which runs the task. */
  private async carryOut(id: string, request: TaskRequest): Promise<void> {
    try {
      if (request.action === 'cancel') await this.cancelTask(id, { login: request.login, name: '' });
      else await this.pauseBulk(id, request.action === 'pause');
    } catch (error) {
      // The log shows it, because the caller has got the response already.
      this.runs.get(id)?.task.log(messageOf(error));
    }
  }

  private beginJournaled(task: RunningTask, journal: LiveJournal, isRecovered: boolean): string {
    const { id, kind } = task.summary;
    const definition = this.definitions.get(kind);
    const work = kind === 'bulk' ? this.bulkWorkOf(journal as LiveJournal<BulkOrder>) : undefined;
    if (work) {
      const bulk = new BulkRun(work, task, journal as LiveJournal<BulkOrder>, this.deps);
      return this.begin(task, () => bulk.run(isRecovered), { bulk });
    }
    if (!definition) throw new Error(`Tasks of the kind ${kind} are not defined; ${id} can't run.`);
    try {
      const steps = new StepsRun(definition, task, journal, this.deps);
      return this.begin(task, () => steps.run(isRecovered), { steps });
    } catch (error) {
      const message = messageOf(error);
      return this.begin(task, () => task.end(message).then(() => 'ended'), {});
    }
  }

  private bulkWorkOf({ input: { action } }: LiveJournal<BulkOrder>): BulkWork | undefined {
    const { memberWork: apply, slots } = this;
    const tasks = this.queues.get(action);
    return apply && { apply, slots, ...(tasks && { queue: { tasks, runs: this.memberRuns } }) };
  }

  private get memberRuns(): MemberTaskRuns {
    const find = (id: string): Task | undefined => this.runs.get(id)?.task.summary ?? this.store.get(id);
    return {
      find,
      newId: (kind, name) => newTaskId(kind, name, this.clock.now()),
      ended: async (id) => {
        await this.whenEnded(id);
        return find(id);
      },
    };
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

  /** The tasks of older releases have no reservations. */
  private adopt({ id, reserves }: Task, isHere: boolean): void {
    if (reserves) this.reservations?.adopt(id, reserves, isHere);
  }

  private async settle(task: RunningTask, outcome: RunOutcome): Promise<void> {
    const { id, kind, status, error } = task.summary;
    // Also when its end can't be written now.
    if (outcome === 'ended' && !task.isAbandoned) this.reservations?.endTask(id);
    // Otherwise the task is served from memory, and its end is written later.
    if (outcome === 'suspended' || task.isWritten || task.isAbandoned) {
      if (!task.isWritten && !task.isAbandoned) await task.write();
      this.runs.delete(id);
    } else {
      this.retryEnd(task);
    }
    if (outcome === 'suspended') this.log.info({ id, kind }, 'task suspended');
    else this.log.info({ id, kind, status, error }, 'task ended');
  }

  private retryEnd(task: RunningTask): void {
    this.clock.after(END_RETRY_MS, async () => {
      if (this.isClosed) return;
      if ((await task.write()) || task.isAbandoned) this.runs.delete(task.summary.id);
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

  private async deleteOld(): Promise<void> {
    if (!this.replicas.isLeader) return;
    try {
      await this.store.deleteBefore(new Date(this.clock.now() - RETENTION_MS).toISOString());
    } catch (error) {
      this.log.warn({ reason: messageOf(error) }, 'deleting old tasks failed');
    }
  }
}

const reservedBy = (reservation: Reservation | undefined): Pick<Task, 'reserves'> =>
  reservation ? { reserves: reservation.work } : {};

/** @throws DomainError NOT_READY when the store can't be written; nothing has changed then */
async function expectWritable(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw new DomainError('NOT_READY', `The journal of the task can't be written: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}
