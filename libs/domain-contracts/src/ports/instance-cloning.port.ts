import type { InstanceRef } from '../values/instance-ref.js';
import type { OperationKey, OperationState } from '../model/engine-operation.js';
import type { Plan } from '../model/plan.js';
import type { BackgroundWork } from '../model/task.js';

export interface AcceptedClone {
  /** Present when the clone is completed after it was accepted: run it as a task. */
  readonly remaining?: BackgroundWork;
}

/**
 * Copies stopped VMs, and marks VMs as templates, which can be cloned but not started. Also copies containers where the
 * backend lists the ability for containers.
 */
export abstract class InstanceCloning {
  /** Changes nothing. The plan contains every refusal that the backend can foresee. */
  abstract planClone(source: InstanceRef, target: InstanceRef): Promise<Plan>;

  /**
   * Creates a stopped VM with the disks and the hardware of the source, but with MAC addresses, a firmware UUID and a
   * cloud-init instance ID of its own. It is no template, has no tags and no snapshots. A failure leaves nothing
   * behind.
   * @param target in the namespace of the source
   * @param key by which a clone can be found again after its process was killed
   * @throws DomainError INSTANCE_NOT_FOUND, ALREADY_EXISTS, WRONG_STATE unless the source is stopped, BUSY,
   *   NOT_SUPPORTED
   */
  abstract clone(source: InstanceRef, target: InstanceRef, key?: OperationKey): Promise<AcceptedClone>;

  /** Looks at a clone of an earlier process. Changes nothing. */
  abstract stateOf(source: InstanceRef, target: InstanceRef, key: OperationKey): Promise<OperationState>;

  /** Continues a clone that is `running`. The returned work ends when the VM is complete. */
  abstract resume(source: InstanceRef, target: InstanceRef, key: OperationKey): Promise<BackgroundWork>;

  /** Removes the objects of an incomplete clone, and nothing else. Does nothing for one that is done. */
  abstract discard(source: InstanceRef, target: InstanceRef, key: OperationKey): Promise<void>;

  abstract planTemplate(ref: InstanceRef, on: boolean): Promise<Plan>;

  /**
   * Marks a stopped VM as a template or removes the mark; no error if there is nothing to change.
   * @throws DomainError INSTANCE_NOT_FOUND, WRONG_STATE for a VM that runs
   */
  abstract setTemplate(ref: InstanceRef, on: boolean): Promise<void>;
}

/** Why a template is not started. */
export const templateRefusal = (name: string): string =>
  `${name} is a template: clone it and start the clone, or remove the template mark first.`;
