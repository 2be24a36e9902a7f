import type { InstanceRef } from '../values/instance-ref.js';
import type { Plan } from '../model/plan.js';
import type { BackgroundWork } from '../model/task.js';

export interface DiskMoveRequest {
  /** The volume of the disk, or the name of its device. */
  readonly volume: string;
  /** The storage that receives the disk: a pool of libvirt, or a storage class of a cluster. */
  readonly storage: string;
}

/** Moves the disk of a running VM to another storage while its guest uses it. */
export abstract class DiskMove {
  /**
   * Changes nothing. The plan contains every refusal that the backend can foresee.
   * @throws DomainError INSTANCE_NOT_FOUND
   */
  abstract plan(ref: InstanceRef, request: DiskMoveRequest): Promise<Plan>;

  /**
   * Checks the request, so that a refusal is thrown immediately. The returned work copies the disk and lets the guest
   * use the copy. A move that fails or is canceled leaves the disk where it was, and nothing in the other storage.
   * @throws DomainError DEVICE_NOT_FOUND, VOLUME_NOT_FOUND for a storage that does not exist, WRONG_STATE, BUSY,
   *   INSUFFICIENT_STORAGE
   */
  abstract move(ref: InstanceRef, request: DiskMoveRequest): Promise<BackgroundWork>;

  /**
   * Continues a move that a restart of the service has interrupted. The returned work ends when the disk is in the
   * other storage, and throws when it was left where it was.
   * @throws DomainError INSTANCE_NOT_FOUND
   */
  abstract resume(ref: InstanceRef, request: DiskMoveRequest): Promise<BackgroundWork>;
}
