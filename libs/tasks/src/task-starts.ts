import {
  DomainError,
  formatImageRef,
  formatRef,
  messageOf,
  type BackgroundWork,
  type Caller,
  type ImageRef,
  type InstanceRef,
  type Replicas,
  type Reservation,
  type TaskStart,
  type TaskRunner,
} from '@headgate/domain-contracts';
import { bulkParts, type BulkTasks } from './bulk-tasks.js';
import { expectWritable } from './expect-writable.js';
import type { LiveJournal } from './live-journal.js';
import type { JournaledRun } from './journaled-kind.js';
import { newTask } from './new-task.js';
import type { UnjournaledKind } from './patience.js';
import { RunningTask, type RunDeps } from './running-task.js';
import { json } from './steps-run.js';
import type { TaskKinds } from './task-kinds.js';
import type { TaskRuns } from './task-runs.js';
import { isCancelable, runUnjournaled } from './unjournaled-work.js';

export interface TaskStartsDeps {
  readonly runs: TaskRuns;
  readonly kinds: TaskKinds;
  readonly bulk: BulkTasks;
  readonly replicas: Pick<Replicas, 'isMember'>;
  readonly run: RunDeps;
}

interface CreatedTask {
  readonly task: RunningTask;
  readonly journal?: LiveJournal;
  readonly variant?: string | undefined;
}

/** Journals new tasks and begins them, and begins those of an earlier process again. */
export class TaskStarts {
  /** Tasks that are journaled, but do not run yet. */
  private readonly starting = new Set<string>();
  private isClosed = false;

  constructor(private readonly deps: TaskStartsDeps) {}

  has(id: string): boolean {
    return this.starting.has(id);
  }

  /** Tasks that are being journaled are stopped as soon as they begin. */
  close(): void {
    this.isClosed = true;
  }

  /** A task whose work has no journal. */
  async start(
    kind: UnjournaledKind,
    subject: InstanceRef | ImageRef,
    caller: Caller,
    work: BackgroundWork,
    reservation?: Reservation,
  ): Promise<string> {
    const { run: deps, runs } = this.deps;
    const ref = 'kind' in subject ? formatRef(subject) : formatImageRef(subject);
    const start = { kind, name: subject.name, ref, ...(reservation && { reservation }) };
    const task = new RunningTask({ ...newTask(start, caller, deps.clock), cancelable: isCancelable(kind) }, deps);
    const run = () => runUnjournaled(task, kind, work, deps);
    return this.create({ task }, () => runs.begin(task, run), reservation);
  }

  /** A task with steps. */
  async startSteps<Input extends object>(
    { kind, version }: { readonly kind: UnjournaledKind; readonly version: number },
    start: TaskStart<Input>,
    caller: Caller,
  ): Promise<string> {
    const { kinds, run: deps } = this.deps;
    const { input, reservation } = start;
    const created = newTask({ kind, ...start }, caller, deps.clock);
    const journal: LiveJournal = { task: created.id, version, caller, input: json<object>(input), steps: [] };
    const task = new RunningTask({ ...created, cancelable: true }, deps);
    const run = kinds.open(task, journal);
    return this.create({ task, journal, variant: start.variant }, () => this.begin(task, run, false), reservation);
  }

  async startBulk(
    ...[request, refs, caller, { id, uidOf } = {}]: Parameters<TaskRunner['startBulk']>
  ): Promise<string> {
    const { bulk, run: deps } = this.deps;
    const { kind, version } = bulk;
    const created = newTask(
      { kind, name: request.action, ref: '', ...(id !== undefined && { id }) },
      caller,
      deps.clock,
    );
    const promised = deps.times?.bulk(request, refs);
    const parts = { ...bulkParts(request, refs, uidOf), ...(promised && { promised }) };
    const task = new RunningTask({ ...created, ...parts }, deps);
    const journal: LiveJournal = { task: created.id, version, caller, input: json(request), steps: [] };
    return this.create({ task, journal }, () => this.beginJournaled(task, journal, false));
  }

  /** @throws Error for a kind that is not defined */
  beginJournaled(task: RunningTask, journal: LiveJournal, isRecovered: boolean): string {
    const { kinds, runs } = this.deps;
    kinds.expect(task.summary);
    try {
      return this.begin(task, kinds.open(task, journal), isRecovered);
    } catch (error) {
      const message = messageOf(error);
      return runs.begin(task, () => task.end(message).then(() => 'ended'));
    }
  }

  private begin(task: RunningTask, run: JournaledRun, isRecovered: boolean): string {
    return this.deps.runs.begin(task, () => run.run(isRecovered), run);
  }

  /** Journals a new task and begins it. @throws DomainError NOT_READY; nothing has begun then */
  private async create(
    { task, journal, variant }: CreatedTask,
    begin: () => string,
    reservation?: Reservation,
  ): Promise<string> {
    const { replicas } = this.deps;
    const { id } = task.summary;
    if (!replicas.isMember)
      throw new DomainError('NOT_READY', 'This replica does not reach the store of the cluster; try again soon.');
    this.starting.add(id);
    try {
      await expectWritable(() => task.create(journal, variant));
      reservation?.giveTo(id);
      if (this.isClosed || !replicas.isMember) task.stop();
      return begin();
    } finally {
      this.starting.delete(id);
    }
  }
}
