import type { InstanceRef } from '../values/instance-ref.js';
import type { OperationKey, OperationState } from '../model/engine-operation.js';
import type { Plan } from '../model/plan.js';
import type { BackgroundWork } from '../model/task.js';

/** `Succeeded`: the content is saved. Only then can the snapshot be restored. */
export const SNAPSHOT_PHASES = ['InProgress', 'Succeeded', 'Failed', 'Deleting', 'Unknown'] as const;
export type SnapshotPhase = (typeof SNAPSHOT_PHASES)[number];

/**
 * The saved content of a VM's disks and firmware variables, or of the root and the volumes of a container, at one
 * moment.
 */
export interface Snapshot {
  readonly name: string;
  readonly phase: SnapshotPhase;
  /** When the content was saved, or when the snapshot was requested while it is in progress. ISO 8601. */
  readonly creationTime: string;
  /** Whether it can be restored now. */
  readonly ready: boolean;
  /** One sentence about a snapshot that failed or can't be restored yet. */
  readonly reason?: string;
  /** Whether the memory of the guest was saved as well: a restore lets the guest continue from that moment. */
  readonly memory?: boolean;
}

export interface SnapshotRequest {
  readonly name: string;
  /** Also saves the memory of the running guest. */
  readonly memory?: boolean;
}

/** An operation on a snapshot, as a restart of the service finds it again. */
export interface SnapshotOperation extends OperationKey {
  readonly kind: 'create' | 'restore' | 'delete';
  readonly snapshot: string;
}

/** An operation that was accepted. */
export interface AcceptedSnapshotWork {
  /** Present when the operation continues: run it as a task. */
  readonly remaining?: BackgroundWork;
}

/**
 * Saves, restores and deletes the content of a VM's disks, or of a container where the backend lists the ability for
 * containers. The snapshots of an instance belong to it and are deleted with it. All methods throw INSTANCE_NOT_FOUND
 * for one that does not exist. An operation with a key can be found again after
 * its process was killed.
 */
export abstract class InstanceSnapshots {
  /** The oldest first. Never those of another VM, or of an earlier one of the same name. */
  abstract list(ref: InstanceRef): Promise<readonly Snapshot[]>;

  /** Changes nothing. The plan contains every refusal that the backend can foresee. */
  abstract planCreate(ref: InstanceRef, request: SnapshotRequest): Promise<Plan>;

  /**
   * A running guest continues to run. A failure leaves nothing behind.
   * @throws DomainError ALREADY_EXISTS, BUSY while another change of its disks runs, NOT_SUPPORTED,
   *   INSUFFICIENT_STORAGE
   */
  abstract create(ref: InstanceRef, request: SnapshotRequest, key?: OperationKey): Promise<AcceptedSnapshotWork>;

  abstract planRestore(ref: InstanceRef, name: string): Promise<Plan>;

  /**
   * Returns the disks to the saved content. The work shuts the VM down and starts it again if it ran; with saved
   * memory, its guest continues from the moment of the snapshot instead of booting. The other snapshots stay. It
   * commits before it replaces a disk.
   * @throws DomainError SNAPSHOT_NOT_FOUND, BUSY, WRONG_STATE for a snapshot that is not ready
   */
  abstract restore(ref: InstanceRef, name: string, key?: OperationKey): Promise<BackgroundWork>;

  abstract planDelete(ref: InstanceRef, name: string): Promise<Plan>;

  /**
   * The content of the VM and of its other snapshots stays the same, and a running guest continues to run.
   * @throws DomainError SNAPSHOT_NOT_FOUND, BUSY
   */
  abstract delete(ref: InstanceRef, name: string, key?: OperationKey): Promise<AcceptedSnapshotWork>;

  /** Looks at an operation of an earlier process. Changes nothing. */
  abstract stateOf(ref: InstanceRef, operation: SnapshotOperation): Promise<OperationState>;

  /**
   * Continues an operation that is `running`. The returned work ends when it is done, and throws when it has failed.
   */
  abstract resume(ref: InstanceRef, operation: SnapshotOperation): Promise<BackgroundWork>;

  /**
   * Removes the remains of an incomplete operation, and lets the VM run again if it ran. Does nothing for one that is
   * done.
   * @throws DomainError WRONG_STATE with the state of the VM for one that can't be undone any more
   */
  abstract discard(ref: InstanceRef, operation: SnapshotOperation, signal: AbortSignal): Promise<void>;
}
