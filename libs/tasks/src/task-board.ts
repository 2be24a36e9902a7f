import {
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
  type TaskOrder,
  type TaskRequest,
  type TaskStore,
} from '@headgate/domain-contracts';
import { bulkParts, BulkTasks } from './bulk-tasks.js';
import { expectWritable } from './expect-writable.js';
import type { JournaledRun } from './journaled-kind.js';
import type { LiveJournal } from './live-journal.js';
import { newTask } from './new-task.js';
import { OldTasks } from './old-tasks.js';
import type { UnjournaledKind } from './patience.js';
import type { MemberTaskRuns } from './queued-members.js';
import { recoverTasks, type RecoveredTask } from './recover-tasks.js';
import { RunningTask, type RunDeps } from './running-task.js';
import { SharedTasks } from './shared-tasks.js';
import { canceled, committed, json, notCancelable, StepsRun } from './steps-run.js';
import { newTaskId } from './task-id.js';
import { TaskKinds } from './task-kinds.js';
import type { LiveTask, TaskReader } from './task-reader.js';
import { TaskRuns, type TaskRun } from './task-runs.js';
import { isCancelable, runUnjournaled } from './unjournaled-work.js';

/** Runs background work as tasks, reports their progress, and continues or ends those that a restart interrupted. */
export class TaskBoard extends TaskRunner implements TaskReader {
  private readonly runs: TaskRuns;
  private readonly kinds = new TaskKinds();
  private readonly bulk: BulkTasks;
  private readonly deps: RunDeps;
  private recovered: readonly RecoveredTask[] = [];
  private readonly shared: SharedTasks;
  private readonly old: OldTasks;
  /** Tasks that are journaled, but do not run yet. */
  private readonly starting = new Set<string>();
  private readonly endListeners = new Set<(task: Task) => void>();
  private unsubscribe = (): void => undefined;
  private isClosed = false;
  private describe: RunDeps['describe'];

  constructor(
    private readonly store: TaskStore,
    private readonly clock: Clock,
    log: Log = SILENT_LOG,
    private readonly replicas: Replicas = new SingleReplica(),
    private readonly reservations?: Reservations,
  ) {
    super();
    const onEnd = (task: Task): void => {
      this.reservations?.endTask(task.id);
      for (const listener of this.endListeners) listener(task);
    };
    this.deps = { store, clock, log, onEnd, describe: (ref) => this.describe?.(ref) };
    this.runs = new TaskRuns({ clock, log, release: (id) => this.reservations?.endTask(id) });
    this.bulk = new BulkTasks(this.memberRuns, this.deps);
    this.old = new OldTasks({ store, clock, log, replicas });
    this.shared = new SharedTasks({
      ...{ store, clock, log, replicas, onEnd },
      onSeen: (task) => this.adopt(task, false),
      runsHere: (id) => this.runs.has(id) || this.starting.has(id),
      continueTask: async (task) => this.beginRecovered(await recoverTasks([task], this.deps, this.kinds.versionOf)),
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
    const known = definition as unknown as TaskDefinition;
    const { kind, version = 1 } = known;
    this.kinds.define(kind, { version, open: (task, journal) => new StepsRun(known, task, journal, this.deps) });
    return { start: (order, caller) => this.startSteps({ kind, version }, order, caller) };
  }

  override defineBulk(work: MemberWork): void {
    this.bulk.define(work);
    this.kinds.define(this.bulk.kind, this.bulk);
  }

  override defineQueue(work: MemberTasks): void {
    this.bulk.defineQueue(work);
  }

  /**
   * Ends the tasks of an earlier process that can't continue, and remembers the others for `resume`. Call once, after the store was
   * opened. The tasks of a shared store belong to other replicas.
   */
  async recover(): Promise<void> {
    if (this.shared.isShared) this.shared.follow();
    else {
      const left = this.store.running().filter(({ id }) => !this.runs.has(id));
      this.recovered = await recoverTasks(left, this.deps, this.kinds.versionOf);
      for (const { task } of this.recovered) this.adopt(task, true);
    }
    await this.old.open();
    this.unsubscribe = this.replicas.subscribe({ left: () => this.suspend() });
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
    kind: UnjournaledKind,
    subject: InstanceRef | ImageRef,
    caller: Caller,
    work: BackgroundWork,
    reservation?: Reservation,
  ): Promise<string> {
    const ref = 'kind' in subject ? formatRef(subject) : formatImageRef(subject);
    const order = { kind, name: subject.name, ref, ...(reservation && { reservation }) };
    const task = new RunningTask({ ...newTask(order, caller, this.clock), cancelable: isCancelable(kind) }, this.deps);
    const run = () => runUnjournaled(task, kind, work, this.deps);
    return this.create(task, undefined, () => this.runs.begin(task, run), reservation);
  }

  override async startBulk(order: BulkOrder, refs: readonly string[], caller: Caller): Promise<string> {
    const { kind, version } = this.bulk;
    const created = newTask({ kind, name: order.action, ref: '' }, caller, this.clock);
    const task = new RunningTask({ ...created, ...bulkParts(order, refs) }, this.deps);
    const journal: LiveJournal = { task: created.id, version, caller, input: json(order), steps: [] };
    return this.create(task, journal, () => this.beginJournaled(task, journal, false));
  }

  override async pauseBulk(id: string, isPaused: boolean): Promise<void> {
    const stored = this.get(id);
    if (this.shared.isElsewhere(stored)) return this.shared.pause(stored, isPaused);
    const { journaled } = this.expectRunning(id);
    if (!journaled?.pause) throw new DomainError('WRONG_STATE', `The task ${id} can't be paused; only bulk tasks can.`);
    await expectWritable(async () => journaled.pause?.(isPaused));
  }

  override cancel(ref: InstanceRef, reason: Error): void {
    const text = formatRef(ref);
    // Steps that were journaled find out on their own that the instance is gone, or have deleted it.
    for (const { task, journaled } of this.runs.all()) if (!journaled && task.ref === text) task.cancel(reason);
  }

  override async cancelTask(id: string, caller: Author): Promise<void> {
    const stored = this.get(id);
    if (stored.canceledBy !== undefined) return;
    if (this.shared.isElsewhere(stored)) return this.shared.cancel(stored, caller.login);
    const { task, journaled } = this.expectRunning(id);
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
    this.old.close();
    this.unsubscribe();
    this.shared.close();
    const closed = this.runs.close();
    this.shared.stopWaiting();
    await closed;
  }

  private suspend(): void {
    this.runs.stop();
    this.shared.stopWaiting();
  }

  private async startSteps<Input extends object>(
    { kind, version }: { readonly kind: UnjournaledKind; readonly version: number },
    order: TaskOrder<Input>,
    caller: Caller,
  ): Promise<string> {
    const { input, reservation } = order;
    const created = newTask({ kind, ...order }, caller, this.clock);
    const journal: LiveJournal = { task: created.id, version, caller, input: json<object>(input), steps: [] };
    const task = new RunningTask({ ...created, cancelable: true }, this.deps);
    const run = this.kinds.open(task, journal);
    return this.create(task, journal, () => this.beginRun(task, run, false), reservation);
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

  /** @throws Error for a kind that is not defined */
  private beginJournaled(task: RunningTask, journal: LiveJournal, isRecovered: boolean): string {
    this.kinds.expect(task.summary);
    try {
      return this.beginRun(task, this.kinds.open(task, journal), isRecovered);
    } catch (error) {
      const message = messageOf(error);
      return this.runs.begin(task, () => task.end(message).then(() => 'ended'));
    }
  }

  private beginRun(task: RunningTask, run: JournaledRun, isRecovered: boolean): string {
    return this.runs.begin(task, () => run.run(isRecovered), run);
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

  /** The tasks of older releases have no reservations. */
  private adopt({ id, reserves }: Task, isHere: boolean): void {
    if (reserves) this.reservations?.adopt(id, reserves, isHere);
  }

  private expectRunning(id: string): TaskRun {
    const run = this.runs.get(id);
    if (run && !run.task.isEnded) return run;
    const isRecovered = this.recovered.some(({ task }) => task.id === id);
    if (isRecovered)
      throw new DomainError('WRONG_STATE', `The task ${id} is about to continue after a restart; try again soon.`);
    this.get(id);
    throw new DomainError('WRONG_STATE', `The task ${id} has already ended.`);
  }
}
