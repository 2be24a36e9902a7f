import type { InstanceIdentity } from './instance-identity.js';
import type { AnyPlan } from './plan.js';

/**
 * The changes that a token with a leash has rehearsed. They are carried out only as they were rehearsed: a change asks
 * when it has its reservation, and the audit log refuses to record, and with it to begin, any change that did not ask.
 */
export abstract class RehearsedWork {
  /** Who wanted the change and why, for the journal: plain text. */
  abstract readonly note: string;

  /**
   * Compares the plan of an instance with the rehearsed one. Called with the reservation, before anything is changed.
   * @param plan makes a fresh plan
   * @throws DomainError PLAN_CHANGED when the plan or the instance is another one; NOT_PERMITTED when the token was
   *   stopped or revoked meanwhile
   */
  abstract expectSame(target: InstanceIdentity, plan: () => Promise<AnyPlan>): Promise<void>;

  /** @throws DomainError NOT_PERMITTED for an object whose plan was not compared */
  abstract expectCompared(subject: string): void;
}
