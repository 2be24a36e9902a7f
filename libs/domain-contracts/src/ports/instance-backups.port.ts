import type { Readable } from 'node:stream';
import type { Plan } from '../model/plan.js';
import type { InstanceRef } from '../values/instance-ref.js';
import type { ExportFormat } from './disk-export.port.js';

/** A moment since which the changes of a VM's boot disk are recorded. */
export interface Checkpoint {
  readonly name: string;
  /** ISO 8601. */
  readonly creationTime: string;
  /** Whether the changes since then can be exported now. */
  readonly ready: boolean;
  /** One sentence about a checkpoint that is not ready. */
  readonly reason?: string;
  /** How much of the disk has changed since then. Absent if it is not known. */
  readonly changedBytes?: number;
}

/** The whole boot disk, and a new checkpoint of the same moment. */
export interface FullBackup {
  readonly checkpoint: string;
  readonly format: ExportFormat;
}

/** The changes since a checkpoint as a qcow2 image, and a new checkpoint of the same moment if it has a name. */
export interface IncrementalBackup {
  readonly since: string;
  readonly checkpoint?: string;
}

export type BackupRequest = FullBackup | IncrementalBackup;

export const isIncremental = (request: BackupRequest): request is IncrementalBackup => 'since' in request;

/**
 * The name under which an export with a checkpoint is stored. An increment is based on the image of this name, so the
 * exports of a VM in one folder form a chain.
 */
export const backupImageName = (vm: string, checkpoint: string): string => `${vm}-${checkpoint}.qcow2`;

/**
 * Exports the boot disk of a running VM as it is at one moment, whole or as the changes since an earlier one. The
 * checkpoints of a VM belong to it and are deleted with it. All methods throw INSTANCE_NOT_FOUND for a VM that does not
 * exist.
 */
export abstract class InstanceBackups {
  /** The oldest first. Only those that this service created. */
  abstract list(ref: InstanceRef): Promise<readonly Checkpoint[]>;

  /** Checks what `open` checks, without opening anything. @throws DomainError like `open` */
  abstract check(ref: InstanceRef, request: BackupRequest): Promise<void>;

  /**
   * Opens an export. The guest continues to run. Destroying the stream ends everything behind it and removes its
   * temporary files, as does `signal` before the stream is returned. A new checkpoint exists when the stream ends, and
   * only if it was read to its end.
   * @throws DomainError CHECKPOINT_NOT_FOUND, CHECKPOINT_INCONSISTENT when the record of the changes is lost,
   *   ALREADY_EXISTS for the
   * name of the new checkpoint, WRONG_STATE when the VM is not running, BUSY during another backup or change of its
   * disks, NOT_SUPPORTED, INSUFFICIENT_STORAGE
   */
  abstract open(ref: InstanceRef, request: BackupRequest, signal: AbortSignal): Promise<Readable>;

  /** Changes nothing. @throws DomainError CHECKPOINT_NOT_FOUND */
  abstract planDelete(ref: InstanceRef, name: string): Promise<Plan>;

  /** The other checkpoints stay as they are. @throws DomainError CHECKPOINT_NOT_FOUND, BUSY */
  abstract delete(ref: InstanceRef, name: string): Promise<void>;
}
