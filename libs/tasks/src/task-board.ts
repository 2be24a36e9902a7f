import {
  DomainError,
  formatRef,
  messageOf,
  SILENT_LOG,
  SingleReplica,
  TaskRunner,
  type Author,
  type BackgroundWork,
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
  type TaskStore,
} from '@headgate/domain-contracts';
import { BulkTasks } from './bulk-tasks.js';
import { OldTasks } from './old-tasks.js';
import type { UnjournaledKind } from './patience.js';
import { recoverTasks, type RecoveredTask } from './recover-tasks.js';
import { RunningTask, type RunDeps } from './running-task.js';
import { SharedTasks } from './shared-tasks.js';
import { StepsRun } from './steps-run.js';
import { TaskControl } from './task-control.js';
import { newTaskId } from './task-id.js';
import { TaskKinds } from './task-kinds.js';
import type { LiveTask, TaskReader } from './task-reader.js';
import { TaskRuns } from './task-runs.js';
import { TaskStarts } from './task-starts.js';
import type { PastTimes } from './times/past-times.js';

/** How many tasks of the store say how long such tasks take. */
const MAX_PAST_TASKS = 1000;

/** Runs background work as tasks, reports their progress, and continues or ends those that a restart interrupted. */
export class TaskBoard extends TaskRunner implements TaskReader {
  private readonly deps: RunDeps;
  private readonly kinds = new TaskKinds();
  private readonly runs: TaskRuns;
  private readonly bulk: BulkTasks;
  private readonly starts: TaskStarts;
  private readonly control: TaskControl;
  private readonly shared: SharedTasks;
  private readonly old: OldTasks;
  private recovered: readonly RecoveredTask[] = [];
  private readonly endListeners = new Set<(task: Task) => void>();
  private readonly changeListeners = new Set<(task: Task) => void>();
  private unsubscribe = (): void => undefined;
  private isClosed = false;
  private describe: RunDeps['describe'];

  constructor(
    private readonly store: TaskStore,
    clock: Clock,
    log: Log = SILENT_LOG,
    private readonly replicas: Replicas = new SingleReplica(),
    private readonly reservations?: Reservations,
    private readonly times?: PastTimes,
  ) {
    super();
    const onEnd = (task: Task): void => {
      this.reservations?.endTask(task.id);
      this.times?.add(task);
      for (const listener of this.endListeners) listener(task);
    };
    const onChange = (task: { readonly summary: Task }): void => {
      if (this.changeListeners.size === 0) return;
      const { summary } = task;
      for (const listener of this.changeListeners) listener(summary);
    };
    const describe = (ref: string): string | undefined => this.describe?.(ref);
    this.deps = { store, clock, log, onEnd, onChange, describe, ...(times && { times }) };
    const { kinds } = this;
    const runs = (this.runs = new TaskRuns({ clock, log, release: (id) => this.reservations?.endTask(id) }));
    const find = (id: string): Task | undefined => runs.get(id)?.task.summary ?? store.get(id);
    const newId = (kind: MemberTasks['kind'], name: string): string => newTaskId(kind, name, clock.now());
    const ended = async (id: string): Promise<Task | undefined> => this.whenEnded(id).then(() => find(id));
    const bulk = (this.bulk = new BulkTasks({ find, newId, ended }, this.deps));
    this.starts = new TaskStarts({ runs, kinds, bulk, replicas, run: this.deps });
    this.old = new OldTasks({ store, clock, log, replicas });
    const shared = (this.shared = new SharedTasks({
      store,
      clock,
      log,
      replicas,
      onEnd,
      onSeen: (task) => this.adopt(task, false),
      onChange: ({ members: _members, ...task }) => onChange({ summary: { ...task, log: '' } }),
      runsHere: (id) => runs.has(id) || this.starts.has(id),
      continueTask: async (task) => this.beginRecovered(await recoverTasks([task], this.deps, kinds.versionOf)),
      carryOut: (id, request) => this.control.carryOut(id, request),
    }));
    this.control = new TaskControl({
      runs,
      shared,
      get: (id) => this.get(id),
      isRecovered: (id) => this.recovered.some(({ task }) => task.id === id),
    });
  }

  /**
   * @param listener called when the end of a task is in the store, also of one that another replica runs. Must not
   *   throw
   */
  onEnd(listener: (task: Task) => void): void {
    this.endListeners.add(listener);
  }

  /**
   * @param describe one sentence about the present state of an instance or image, for tasks that are ended because they
   *   make no progress
   */
  describeWith(describe: (ref: string) => string | undefined): void {
    this.describe = describe;
  }

  override define<Input extends object>(definition: TaskDefinition<Input>): DefinedTask<Input> {
    const known = definition as unknown as TaskDefinition;
    const { kind, version = 1 } = known;
    this.kinds.define(kind, { version, open: (task, journal) => new StepsRun(known, task, journal, this.deps) });
    return { start: (start, caller) => this.starts.startSteps({ kind, version }, start, caller) };
  }

  override defineBulk(work: MemberWork): void {
    this.bulk.define(work);
    this.kinds.define(this.bulk.kind, this.bulk);
  }

  override defineQueue(work: MemberTasks): void {
    this.bulk.defineQueue(work);
  }

  /**
   * Ends the tasks of an earlier process that can't continue, and remembers the others for `resume`. Call once, after
   * the store was opened. The tasks of a shared store belong to other replicas.
   */
  async recover(): Promise<void> {
    this.addPastTimes();
    if (this.shared.isShared) this.shared.follow();
    else {
      const left = this.store.running().filter(({ id }) => !this.runs.has(id));
      this.recovered = await recoverTasks(left, this.deps, this.kinds.versionOf);
      for (const { task } of this.recovered) this.adopt(task, true);
    }
    await this.old.open();
    const left = (): void => {
      this.runs.stop();
      this.shared.stopWaiting();
    };
    this.unsubscribe = this.replicas.subscribe({ left });
  }

  /**
   * Continues or rolls back the tasks of an earlier process. Call when the backends can be used. A queue finds the
   * tasks of its members.
   */
  resume(): void {
    const { recovered } = this;
    this.recovered = [];
    if (this.isClosed) return;
    this.beginRecovered(recovered);
    this.shared.startTakingOver();
  }

  override start(
    kind: UnjournaledKind,
    subject: InstanceRef | ImageRef,
    caller: Caller,
    work: BackgroundWork,
    reservation?: Reservation,
  ): Promise<string> {
    return this.starts.start(kind, subject, caller, work, reservation);
  }

  override startBulk(...args: Parameters<TaskRunner['startBulk']>): Promise<string> {
    return this.starts.startBulk(...args);
  }

  override pauseBulk(id: string, isPaused: boolean): Promise<void> {
    return this.control.pause(id, isPaused);
  }

  override cancel(ref: InstanceRef, reason: Error): void {
    const text = formatRef(ref);
    // Steps that were journaled find out on their own that the instance is gone, or have deleted it.
    for (const { task, journaled } of this.runs.all()) if (!journaled && task.ref === text) task.cancel(reason);
  }

  override cancelTask(id: string, caller: Author): Promise<void> {
    return this.control.cancel(id, caller);
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

  subscribe(listener: (task: Task) => void): () => void {
    this.changeListeners.add(listener);
    return () => void this.changeListeners.delete(listener);
  }

  counts(): readonly TaskCount[] {
    return this.store.counts();
  }

  /**
   * Stops all running work and waits until it has stopped, or for 5 seconds. Tasks with a journal continue after the
   * next start, the others end.
   */
  async close(): Promise<void> {
    this.isClosed = true;
    this.starts.close();
    this.old.close();
    this.unsubscribe();
    this.shared.close();
    const closed = this.runs.close();
    this.shared.stopWaiting();
    await closed;
  }

  private beginRecovered(recovered: readonly RecoveredTask[]): void {
    for (const { task, journal } of recovered) {
      const running = new RunningTask(task, this.deps);
      this.adopt(task, true);
      this.shared.followHere(task.id, running);
      this.starts.beginJournaled(running, journal, true);
    }
  }

  private addPastTimes(): void {
    const { times, store, deps } = this;
    if (!times) return;
    try {
      for (const task of store.recent(MAX_PAST_TASKS).toReversed()) times.add(task);
    } catch (error) {
      deps.log.warn({ reason: messageOf(error) }, 'reading how long past tasks took failed');
    }
  }

  /** The tasks of older releases have no reservations. */
  private adopt({ id, reserves }: Task, isHere: boolean): void {
    if (reserves) this.reservations?.adopt(id, reserves, isHere);
  }
}
