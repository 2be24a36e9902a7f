import type { InstanceRef } from '../values/instance-ref.js';
import type { OperationKey, OperationState } from '../model/engine-operation.js';
import type { Plan } from '../model/plan.js';
import type { BackgroundWork } from '../model/task.js';

/**
 * Moves a running guest to another node without stopping it: a node of the same backend, or another backend of its kind
 * that is a node.
 */
export abstract class InstanceMigration {
  /**
   * Changes nothing. The plan contains every refusal that the backend can foresee.
   * @param targetNode if absent, the backend chooses
   * @throws DomainError INSTANCE_NOT_FOUND
   */
  abstract plan(ref: InstanceRef, targetNode?: string): Promise<Plan>;

  /**
   * Triggers the migration, so that a refusal is thrown immediately. The returned work follows the migration to its
   * end. A migration that fails or is canceled leaves the guest running where it was.
   * @param targetNode if absent, the backend chooses; on a cluster among nodes with the same CPU vendor
   * @param key by which the migration can be found again after its process was killed
   * @throws DomainError WRONG_STATE, NODE_NOT_FOUND, NOT_SUPPORTED, ALREADY_EXISTS, INSUFFICIENT_STORAGE,
   *   REJECTED_BY_BACKEND
   */
  abstract migrate(ref: InstanceRef, targetNode?: string, key?: OperationKey): Promise<BackgroundWork>;

  /** Looks at a migration of an earlier process. Changes nothing. */
  abstract stateOf(ref: InstanceRef, key: OperationKey): Promise<OperationState>;

  /** Follows a migration that is `running` to its end. The returned work throws when the guest stays where it was. */
  abstract resume(ref: InstanceRef, key: OperationKey): Promise<BackgroundWork>;

  /** Cancels a migration that is not done, so that the guest stays where it is. Does nothing for one that is done. */
  abstract discard(ref: InstanceRef, key: OperationKey): Promise<void>;
}
