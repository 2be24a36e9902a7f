import type { InstanceRef } from '../values/instance-ref.js';
import type { BackgroundWork } from '../model/task.js';

/** Moves a running guest to another node of the same backend. */
export abstract class InstanceMigration {
  /**
   * Triggers the migration, so that a refusal is thrown at once. The returned work follows the migration to its end.
   * @param targetNode if absent, the scheduler chooses among nodes with the same CPU vendor
   * @throws DomainError WRONG_STATE, NODE_NOT_FOUND, REJECTED_BY_BACKEND
   */
  abstract migrate(ref: InstanceRef, targetNode?: string): Promise<BackgroundWork>;
}
