import { randomUUID } from 'node:crypto';
import {
  buildPlan,
  Change,
  definedFields,
  DomainError,
  type Audit,
  type Caller,
  type Clock,
  type Plan,
  type Schedule,
  type ScheduledJob,
  type ScheduledRun,
  type ScheduleStore,
} from '@headgate/domain-contracts';
import { ScheduleTimes } from './due.js';
import type { JobKinds } from './job-kind.js';
import { activeRun } from './run-records.js';
import type { Scheduler } from './scheduler.js';
import { findSchedule } from './visible-schedules.js';

export const MAX_SCHEDULES_PER_OWNER = 100;
/** Of all owners together. */
export const MAX_SCHEDULES = 1000;

/** The fields of a schedule that its user chooses. */
export type ScheduleRequest = Pick<
  Schedule,
  'name' | 'enabled' | 'cron' | 'timeZone' | 'jitterSeconds' | 'missed' | 'job'
>;

export interface ScheduleChangeDeps {
  readonly store: ScheduleStore;
  readonly jobs: JobKinds;
  readonly scheduler: Pick<Scheduler, 'wake' | 'starter'>;
  readonly clock: Clock;
  readonly audit: Audit;
}

const subjectOf = ({ id }: Schedule): string => `schedule/${id}`;

/** Creates a schedule of its caller. It has no run at once, also if it would have been due before. */
export class CreateSchedule extends Change<[caller: Caller, request: ScheduleRequest], Schedule, Schedule> {
  constructor(private readonly deps: ScheduleChangeDeps) {
    super();
  }

  /** @throws DomainError INVALID_INPUT, NOT_PERMITTED, ALREADY_EXISTS, CONFLICT when there are too many schedules */
  protected override prepare(caller: Caller, request: ScheduleRequest): Schedule {
    const { store, jobs, clock } = this.deps;
    const { login: owner, token } = caller;
    const now = clock.iso();
    const id = randomUUID();
    const times = { createdAt: now, changedAt: now, after: now };
    const schedule = { owner, id, ...(token !== undefined && { token }), ...request, ...times, runs: [] };
    expectTimes(schedule);
    checkJob(jobs, request.job, caller);
    const own = store.of(owner);
    expectFreeName(own, request.name);
    if (own.length >= MAX_SCHEDULES_PER_OWNER)
      throw new DomainError('CONFLICT', `You have ${MAX_SCHEDULES_PER_OWNER} schedules already; delete one of them.`);
    if (store.count() >= MAX_SCHEDULES)
      throw new DomainError('CONFLICT', `The service has ${MAX_SCHEDULES} schedules already; delete some of them.`);
    return schedule;
  }

  protected override async planPrepared(schedule: Schedule): Promise<Plan> {
    return planOf('create schedule', schedule, this.deps.jobs);
  }

  protected override async runPrepared(schedule: Schedule, caller: Caller): Promise<Schedule> {
    const { store, audit, scheduler, jobs } = this.deps;
    const describe = (): string => describeSchedule(schedule, jobs);
    await audit.of(caller, 'create schedule', subjectOf(schedule), () => store.put(schedule), describe);
    scheduler.wake();
    return schedule;
  }
}

interface PreparedUpdate {
  readonly schedule: Schedule;
  /** The change of the stored version, which may be a later one. */
  readonly change: Partial<Schedule>;
}

/** Changes a schedule. With other times, or when it is enabled, earlier planned times are forgotten. */
export class UpdateSchedule extends Change<
  [caller: Caller, id: string, update: Partial<ScheduleRequest>],
  Schedule,
  PreparedUpdate
> {
  constructor(private readonly deps: ScheduleChangeDeps) {
    super();
  }

  /** @throws DomainError SCHEDULE_NOT_FOUND, also for one that the caller may not see; those of a new one */
  protected override prepare(caller: Caller, id: string, request: Partial<ScheduleRequest>): PreparedUpdate {
    const update = definedFields(request);
    const { store, jobs, clock } = this.deps;
    const found = findSchedule(store, id, caller);
    const { name, job } = update;
    if (job !== undefined) checkJob(jobs, job, caller);
    if (name !== undefined)
      expectFreeName(
        store.of(found.owner).filter((one) => one.id !== id),
        name,
      );
    const merged: Schedule = { ...found, ...update };
    expectTimes(merged);
    const now = clock.iso();
    const isOther = merged.cron !== found.cron || merged.timeZone !== found.timeZone;
    const isEnabled = merged.enabled && !found.enabled;
    // A clock that was set back must not repeat the planned times before.
    const after = now > found.after ? now : found.after;
    const change = { ...update, changedAt: now, ...((isOther || isEnabled) && { after }) };
    return { schedule: { ...merged, ...change }, change };
  }

  protected override async planPrepared({ schedule }: PreparedUpdate): Promise<Plan> {
    return planOf('change schedule', schedule, this.deps.jobs);
  }

  protected override async runPrepared({ schedule, change }: PreparedUpdate, caller: Caller): Promise<Schedule> {
    const { store, audit, scheduler, jobs } = this.deps;
    const { owner, id } = schedule;
    const changed = await audit.of(
      caller,
      'change schedule',
      subjectOf(schedule),
      async () => {
        const stored = await store.change(owner, id, (latest) => ({ ...latest, ...change }));
        if (!stored) throw new DomainError('SCHEDULE_NOT_FOUND', `There is no schedule ${id}.`);
        return stored;
      },
      (stored) => describeSchedule(stored, jobs),
    );
    scheduler.wake();
    return changed;
  }
}

/** Deletes a schedule. A run that goes on is not ended, and snapshots that it has created stay. */
export class DeleteSchedule extends Change<[caller: Caller, id: string], void, Schedule> {
  constructor(private readonly deps: ScheduleChangeDeps) {
    super();
  }

  /** @throws DomainError SCHEDULE_NOT_FOUND, also for one that the caller may not see */
  protected override prepare(caller: Caller, id: string): Schedule {
    return findSchedule(this.deps.store, id, caller);
  }

  protected override async planPrepared(schedule: Schedule): Promise<Plan> {
    const active = activeRun(schedule);
    const warnings = active ? [`Its task ${active.task} continues.`] : [];
    return buildPlan([{ name: 'delete schedule', detail: schedule.name }], { warnings });
  }

  protected override async runPrepared(schedule: Schedule, caller: Caller): Promise<void> {
    const { store, audit, jobs } = this.deps;
    const { owner, id, name, job } = schedule;
    await audit.of(
      caller,
      'delete schedule',
      subjectOf(schedule),
      async () => {
        await store.delete(owner, id);
        await jobs.of(job).forget(schedule);
      },
      () => name,
    );
  }
}

/** Runs a schedule now, with the rights of its owner. Its times stay as they are. */
export class RunSchedule extends Change<[caller: Caller, id: string], ScheduledRun, Schedule> {
  constructor(private readonly deps: ScheduleChangeDeps) {
    super();
  }

  /** @throws DomainError SCHEDULE_NOT_FOUND; WRONG_STATE while a run is active */
  protected override prepare(caller: Caller, id: string): Schedule {
    const schedule = findSchedule(this.deps.store, id, caller);
    const active = activeRun(schedule);
    if (active) throw new DomainError('WRONG_STATE', `The schedule ${schedule.name} still runs (task ${active.task}).`);
    return schedule;
  }

  protected override async planPrepared(schedule: Schedule): Promise<Plan> {
    return buildPlan([{ name: 'run schedule', detail: this.deps.jobs.of(schedule.job).describe(schedule.job) }]);
  }

  protected override async runPrepared(schedule: Schedule, caller: Caller): Promise<ScheduledRun> {
    const { audit, scheduler } = this.deps;
    const run = (): Promise<ScheduledRun> => scheduler.starter.runNow(schedule);
    return audit.of(caller, 'request run of schedule', subjectOf(schedule), run, ({ task = '' }) => task);
  }
}

/** @throws DomainError INVALID_INPUT */
function expectTimes(schedule: Schedule): void {
  new ScheduleTimes(schedule);
}

/** @throws DomainError INVALID_INPUT, NOT_PERMITTED */
function checkJob(jobs: JobKinds, job: ScheduledJob, caller: Caller): void {
  jobs.of(job).check(job, caller);
}

function expectFreeName(schedules: readonly Schedule[], name: string): void {
  if (schedules.some((one) => one.name === name))
    throw new DomainError('ALREADY_EXISTS', `name: there is a schedule "${name}" already; choose another name.`);
}

const describeSchedule = ({ name, cron, timeZone, enabled, job }: Schedule, jobs: JobKinds): string =>
  `${name}: ${jobs.of(job).describe(job)} at ${cron} (${timeZone})${enabled ? '' : ', disabled'}`;

const planOf = (step: string, schedule: Schedule, jobs: JobKinds): Plan =>
  buildPlan([{ name: step, detail: describeSchedule(schedule, jobs) }]);
