import type { InstanceRef } from '../values/instance-ref.js';
import type { Plan } from '../model/plan.js';
import type { BackgroundWork } from '../model/task.js';

/** Moves a running guest to another node without stopping it: a node of the same backend, or another backend of its kind that is a node. */
export abstract class InstanceMigration {
  /**
   * Changes nothing. The plan contains every refusal that the backend can foresee.
   * @param targetNode if absent, the backend chooses
   * @throws DomainError INSTANCE_NOT_FOUND
   */
  abstract plan(ref: InstanceRef, targetNode?: string): Promise<Plan>;

  /**
   * Triggers the migration, so that a refusal is thrown at once. The returned work follows the migration to its end. A migration that fails or
   * is canceled leaves the guest running where it was.
   * @param targetNode if absent, the backend chooses; on a cluster among nodes with the same CPU vendor
   * @throws DomainError WRONG_STATE, NODE_NOT_FOUND, NOT_SUPPORTED, ALREADY_EXISTS, INSUFFICIENT_STORAGE, REJECTED_BY_BACKEND
   */
  abstract migrate(ref: InstanceRef, targetNode?: string): Promise<BackgroundWork>;
}
