import type { Refusal } from '../model/plan.js';
import { DomainError } from '../values/domain-error.js';
import type { InstanceRef } from '../values/instance-ref.js';
import type { DiskExtent } from './live-disks.port.js';

/**
 * The state of the file systems on the disks. `stopped`: the guest had shut down, or was off. `frozen`: the agent in
 * the guest had written everything and held further writes. `crash`: as after a power failure.
 */
export const BACKUP_CONSISTENCIES = ['stopped', 'frozen', 'crash'] as const;
export type BackupConsistency = (typeof BACKUP_CONSISTENCIES)[number];

/** A disk as it was at the moment of a backup. */
export interface BackupDisk {
  /** The name of the device, as in the reading of `DiskSource`. */
  readonly name: string;
  readonly sizeBytes: number;
  /**
   * The parts that may have changed since the checkpoint that the request names, in the order of the disk. `all` if
   * that is not known.
   */
  readonly changed: 'all' | readonly DiskExtent[];
  /**
   * Whether `read` has the changed parts only, and zeros for all others. Their content is that of the backup with the
   * checkpoint.
   */
  readonly hasOnlyChanges?: boolean;
  /** Any part of the disk. @param length at most `DISK_BLOCK_BYTES` */
  read(offset: number, length: number): Promise<Buffer>;
}

export interface BackupReadRequest {
  /**
   * Distinguishes the checkpoints of one series of backups from those of others: 1 to 32 lower-case letters and digits.
   * A series has one checkpoint.
   */
  readonly series: string;
  /** Only the changes since this checkpoint, if it still exists. */
  readonly since?: string;
  /** Receives how much was copied before the disks can be read, where they are copied first. */
  readonly report?: (copiedBytes: number) => void;
}

/** All disks of a VM, as they were at one moment. */
export interface BackupReading {
  /** The first is the boot disk. */
  readonly disks: readonly BackupDisk[];
  readonly consistency: BackupConsistency;
  readonly warnings: readonly string[];
  /** One sentence: why the changes since the requested checkpoint are not known. */
  readonly wholeReason?: string;
  /** A checkpoint of this moment. Absent if none can be created, such as for a VM that is stopped. */
  readonly checkpoint?: string;
  /**
   * Frees the disks, and removes the temporary files. May be called twice.
   * @param outcome.keep whether the checkpoint takes the place of the former one of its series; otherwise it is
   *   removed, and the former one stays
   */
  close(outcome: { readonly keep: boolean }): Promise<void>;
}

/** The disks of a snapshot. */
export interface SavedDisks {
  readonly disks: readonly Pick<BackupDisk, 'name' | 'sizeBytes' | 'read'>[];
  /** Frees them. May be called twice. */
  close(): Promise<void>;
}

/**
 * Reads all disks of a VM as they were at one moment, whether the VM runs or is stopped. The guest goes on, but for the
 * moment in which its agent freezes its file systems, and they are always thawed, also after a failure. All methods but
 * `end` and `endAll` throw INSTANCE_NOT_FOUND for a VM that does not exist.
 */
export abstract class BackupSource {
  /**
   * Why this VM can't be backed up now; empty when it can. Changes nothing.
   * @param series the space for its next backup is checked; otherwise that for a whole one
   * @throws DomainError BACKEND_UNREACHABLE
   */
  abstract check(ref: InstanceRef, series?: string): Promise<readonly Refusal[]>;

  /**
   * `signal` ends it before the reading is returned, and leaves nothing behind.
   * @throws DomainError the first refusal of `check`, BUSY, INSUFFICIENT_STORAGE, WRONG_STATE once the guest
   *   has stopped. Reads may throw that as well.
   */
  abstract open(ref: InstanceRef, request: BackupReadRequest, signal: AbortSignal): Promise<BackupReading>;

  /**
   * The disks as a snapshot has saved them, whether the VM runs or not. Until they are closed, nothing changes or
   * deletes the snapshot. By default, a backend has none that can be read.
   * @throws DomainError SNAPSHOT_NOT_FOUND, NOT_SUPPORTED, BUSY, BACKEND_FORBIDDEN
   */
  openSnapshot({ name }: InstanceRef, _snapshot: string, _signal: AbortSignal): Promise<SavedDisks> {
    return Promise.reject(new DomainError('NOT_SUPPORTED', `The disks of snapshots of ${name} can't be read.`));
  }

  /** Removes the checkpoint of a series. No error if there is none, or if the VM does not exist. */
  abstract end(ref: InstanceRef, series: string): Promise<void>;

  /**
   * Removes the checkpoints of a series from all VMs, but for the one of a backup that is being read: its reading
   * removes that. @throws DomainError BACKEND_UNREACHABLE, or the first failure after all VMs were tried
   */
  abstract endAll(series: string): Promise<void>;
}
