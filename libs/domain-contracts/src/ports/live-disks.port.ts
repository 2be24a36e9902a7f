import type { Readable } from 'node:stream';
import type { Refusal } from '../model/plan.js';
import type { InstanceRef } from '../values/instance-ref.js';

/** The record of the changes of a VM's disks, which belongs to one move. */
export interface DiskRecording {
  readonly ref: InstanceRef;
  /** A UUID that identifies the move, so that the recording can be found again after a restart. */
  readonly id: string;
}

/** A part of a disk, in bytes. */
export interface DiskExtent {
  readonly offset: number;
  readonly length: number;
}

/** The parts of a disk that have changed between two moments, as they are at the later one. */
export interface DiskChanges {
  /**
   * Whether the VM is stopped, so that no changes follow. All parts of the disk can be read then; otherwise only those
   * that have changed.
   */
  readonly isLast: boolean;
  readonly sizeBytes: number;
  /** In the order of the disk. They may contain parts whose content is the same as before. */
  readonly extents: readonly DiskExtent[];
  /** @param length at most `DISK_BLOCK_BYTES` */
  read(offset: number, length: number): Promise<Buffer>;
  /** Frees the disk, and removes the temporary files. */
  close(): Promise<void>;
}

/**
 * Reads the disks of a VM while its guest runs, and afterwards the parts that the guest has changed. The guest does not
 * notice it. A recording has moments for each disk: its whole content is that of the moment 1.
 */
export abstract class LiveDisks {
  /**
   * Why the changes of this VM can't be recorded; empty when they can. Changes nothing.
   * @throws DomainError INSTANCE_NOT_FOUND
   */
  abstract check(ref: InstanceRef): Promise<readonly Refusal[]>;

  /**
   * The whole content of a disk at this moment, which is the moment 1 of a new recording of that disk. Destroying the
   * stream removes the temporary files.
   * @throws DomainError WRONG_STATE when the VM is not running, DEVICE_NOT_FOUND, BUSY, INSUFFICIENT_STORAGE
   */
  abstract open(recording: DiskRecording, disk: string, signal: AbortSignal): Promise<Readable>;

  /**
   * The changes since a moment. While the VM runs, this is the next moment, and may be repeated until the one after it
   * was asked for; once the VM is stopped, it is the last one.
   * @throws DomainError CHECKPOINT_INCONSISTENT when the changes since then were not recorded completely,
   *   DEVICE_NOT_FOUND, BUSY, INSUFFICIENT_STORAGE
   */
  abstract changes(
    recording: DiskRecording,
    request: { readonly disk: string; readonly since: number },
    signal: AbortSignal,
  ): Promise<DiskChanges>;

  /** Ends the recording, and removes every trace of it. No error if there is none, or if the VM does not exist. */
  abstract end(recording: DiskRecording): Promise<void>;
}
