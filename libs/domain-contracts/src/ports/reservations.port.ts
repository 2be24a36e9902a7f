import { busyError, withConflicts } from '../model/busy.js';
import type { Plan, TimedSteps } from '../model/plan.js';
import type { Conflict, Holder, Reservation, Use, Work } from '../model/work.js';
import { DomainError } from '../values/domain-error.js';

/** Errors whose reason may be an operation that goes on. */
const STATE_ERRORS = ['WRONG_STATE', 'ALREADY_EXISTS', 'VOLUME_NOT_FOUND', 'BUSY'] as const;

/**
 * The only place that knows which operation uses which instance. Each change reserves what it uses before it plans.
 * Tasks keep their reservations over a restart of the service, and replicas share them.
 */
export abstract class Reservations {
  /**
   * Waits for requests that use the same and end soon.
   * @throws DomainError BUSY, with the task in `details`, when a long operation uses the same or the wait takes too
   *   long
   */
  abstract acquire(work: Work): Promise<Reservation>;

  /** The operations that the work would meet at this moment. */
  abstract conflictsOf(uses: readonly Use[]): readonly Conflict[];

  /**
   * Whether the reservation of the operation that asks does not count any more, because this replica was not alive for
   * the others meanwhile: they may have used the same. Outside of `during`: whether this replica is not alive for the
   * others.
   */
  abstract readonly isLost: boolean;

  /** The task that keeps an instance from being used, by changing it or because it needs it unchanged. */
  abstract taskOf(subject: string): Required<Holder> | undefined;

  /** The operations in progress that use anything of a context. */
  abstract inContext(context: string): readonly Conflict[];

  /**
   * A task of an earlier process or of another replica has these reservations.
   * @param isHere whether this replica runs the task
   */
  abstract adopt(task: string, work: Work, isHere: boolean): void;

  /** A task has ended, in whichever replica. Does nothing if it has no reservations. */
  abstract endTask(task: string): void;

  /** @param listener receives the subjects whose `taskOf` may have changed, until the returned function is called */
  abstract subscribe(listener: (subjects: readonly string[]) => void): () => void;

  /** The plan with the durations of earlier work of its kind. By default, none are known. */
  withTimes<P extends TimedSteps>(_work: Work, plan: P): P {
    return plan;
  }

  /** The plan with the operations that it would meet at this moment, and with durations. */
  inPlan<P extends Plan>(work: Work, plan: P): P {
    return withConflicts(this.withTimes(work, plan), this.conflictsOf(work.uses));
  }

  /**
   * A check before the reservation. While a long operation goes on, the state of the instance and its volumes is only
   * that of the operation.
   * @throws DomainError BUSY with the task of the operation, instead of an error about the state or the engine's own
   *   BUSY
   */
  async orBusy<T>({ uses }: Work, check: () => Promise<T>): Promise<T> {
    try {
      return await check();
    } catch (error) {
      const conflict = this.conflictsOf(uses).find(({ isBrief }) => !isBrief);
      throw conflict && DomainError.is(error, ...STATE_ERRORS) ? busyError(conflict) : error;
    }
  }

  /** The plan with the operations that it would meet. @throws DomainError like `orBusy` */
  async plan<P extends Plan>(work: Work, makePlan: () => Promise<P>): Promise<P> {
    return this.inPlan(work, await this.orBusy(work, makePlan));
  }

  /**
   * Carries out a request while it has what it uses. A task that the request starts takes the reservation over.
   * @throws DomainError BUSY like `acquire`
   */
  async during<T>(work: Work, run: (reservation: Reservation) => Promise<T>): Promise<T> {
    const reservation = await this.acquire(work);
    try {
      return await run(reservation);
    } finally {
      reservation.release();
    }
  }
}
