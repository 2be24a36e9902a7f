import type { Caller, Schedule, ScheduledJob, ScheduledRun } from '@headgate/domain-contracts';

/** A kind of job that schedules run, such as an action on many instances. */
export abstract class JobKind {
  /** In the job of a schedule. */
  abstract readonly kind: string;

  /**
   * Checks a job before it is stored.
   * @throws DomainError INVALID_INPUT; NOT_PERMITTED for a job that its user could not carry out now
   */
  abstract check(job: ScheduledJob, caller: Caller): void;

  /** In sentences: "start of web in prod". */
  abstract describe(job: ScheduledJob): string;

  /** A new ID for the task of a run. */
  abstract newTask(job: ScheduledJob): string;

  /**
   * Starts the task of a run under its ID.
   * @param caller the owner of the schedule, with the rights that they have now
   * @returns whether there was anything to do
   * @throws DomainError why it was refused; nothing has begun then
   */
  abstract start(schedule: Schedule, run: ScheduledRun & { readonly task: string }, caller: Caller): Promise<boolean>;

  /** Deletes what it has recorded for a schedule that was deleted. */
  abstract forget(schedule: Schedule): Promise<void>;
}

/** Finds the kind of a job. */
export class JobKinds {
  private readonly kinds: ReadonlyMap<string, JobKind>;

  constructor(kinds: readonly JobKind[]) {
    this.kinds = new Map(kinds.map((one) => [one.kind, one]));
  }

  /** @throws Error for the job of a newer release */
  of({ kind }: ScheduledJob): JobKind {
    const found = this.kinds.get(kind);
    if (!found) throw new Error(`This release has no job of the kind ${kind}.`);
    return found;
  }
}
