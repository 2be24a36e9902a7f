import {
  ADMINISTRATOR,
  Audit,
  DomainError,
  SILENT_LOG,
  type Caller,
  type Replicas,
  type Schedule,
  type ScheduledRun,
  type Task,
} from '@headgate/domain-contracts';
import { FixedClock, ManualReplica, MemoryAuditLog, MemoryScheduleStore } from '@headgate/testing';
import { JobKinds, type JobKind } from '../job-kind.js';
import type { ScheduleOwners } from '../run-starter.js';
import { Scheduler } from '../scheduler.js';

export const START = Date.parse('2026-01-01T00:00:00.000Z');
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

export const buildSchedule = (more: Partial<Schedule> = {}): Schedule => ({
  owner: 'ann',
  id: 'night',
  name: 'Night',
  enabled: true,
  cron: '0 * * * *',
  timeZone: 'UTC',
  jitterSeconds: 0,
  missed: 'skip',
  job: { kind: 'test', params: {} },
  createdAt: new Date(START).toISOString(),
  changedAt: new Date(START).toISOString(),
  after: new Date(START).toISOString(),
  runs: [],
  ...more,
});

/** The moments at which a process may be killed, in their order. */
export class Moments {
  readonly reached: string[] = [];

  /** @param killAt the number of the moment after which nothing of the process happens */
  constructor(private readonly killAt = Infinity) {}

  /** Never resolves once the process is killed. */
  reach(name: string): Promise<void> {
    if (this.reached.length < this.killAt) this.reached.push(name);
    else return new Promise(() => undefined);
    return this.reached.length < this.killAt ? Promise.resolve() : new Promise(() => undefined);
  }
}

/** Replicas whose processes a test ends. */
export class MortalReplica extends ManualReplica {
  constructor(
    id: string,
    private readonly gone: ReadonlySet<string>,
  ) {
    super(id);
  }

  override async isGone(id = ''): Promise<boolean> {
    return this.gone.has(id);
  }
}

/** What processes share: the store and the tasks. */
export class ScheduleWorld {
  readonly clock = new FixedClock(START);
  readonly store = new MemoryScheduleStore();
  readonly tasks = new Map<string, Pick<Task, 'status' | 'error'>>();
  readonly audit = new MemoryAuditLog();
  /** `<planned> <login>` of each task that was started. */
  readonly started: string[] = [];
  /** Why nothing may be started. */
  refusal: DomainError | undefined;
  hasMembers = true;
  private taskCount = 0;

  /** @param prefix how the IDs of tasks begin */
  constructor(private readonly prefix = 'task') {}

  /** A process with a scheduler, which runs everything up to a moment. */
  open(replicas: Pick<Replicas, 'id' | 'isMember' | 'isGone' | 'subscribe'>, moments = new Moments()): Scheduler {
    const { clock, store } = this;
    const dying = new MemoryScheduleStore();
    dying.all = () => store.all();
    dying.of = (owner) => store.of(owner);
    dying.change = async (...args) => {
      await moments.reach('before a change');
      const changed = await store.change(...args);
      await moments.reach('after a change');
      return changed;
    };
    const scheduler = new Scheduler({
      store: dying,
      jobs: new JobKinds([this.job(moments)]),
      owners: this.owners(),
      tasks: { get: (id) => this.find(id) },
      replicas,
      audit: new Audit(this.audit, clock),
      clock,
      log: SILENT_LOG,
    });
    scheduler.start();
    scheduler.resume();
    return scheduler;
  }

  end(task: string | undefined, status: 'done' | 'error' = 'done', error = ''): void {
    this.tasks.set(task ?? '', { status, error });
  }

  runs(id = 'night'): readonly ScheduledRun[] {
    return this.store.all().find((one) => one.id === id)?.runs ?? [];
  }

  private find(id: string): Task {
    const task = this.tasks.get(id);
    if (!task) throw new DomainError('TASK_NOT_FOUND', `There is no task ${id}.`);
    return task as Task;
  }

  private owners(): ScheduleOwners {
    return {
      callerOf: ({ owner }): Caller => {
        if (this.refusal) throw this.refusal;
        return { login: owner, name: '', grant: ADMINISTRATOR };
      },
    };
  }

  private job(moments: Moments): JobKind {
    return {
      kind: 'test',
      check: () => undefined,
      describe: () => 'a test',
      newTask: () => `${this.prefix}-${this.taskCount++}`,
      start: async (_schedule, { task, planned }, { login }) => {
        if (!this.hasMembers) return false;
        await moments.reach('before the task');
        if (this.tasks.has(task)) throw new Error(`${task} was started twice`);
        this.tasks.set(task, { status: 'running', error: '' });
        this.started.push(`${planned} ${login}`);
        await moments.reach('after the task');
        return true;
      },
      forget: async () => undefined,
    };
  }
}
