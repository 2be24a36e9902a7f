import type { DiskWriter } from '../model/disk-writer.js';
import type { Plan } from '../model/plan.js';
import type { IngestTarget } from './disk-ingest.port.js';

/** `replace`: disks of the VM get other content. `add`: the VM gets new disks besides those that it has. */
export const DISK_RESTORE_MODES = ['replace', 'add'] as const;
export type DiskRestoreMode = (typeof DISK_RESTORE_MODES)[number];

/** A VM whose disks are restored. */
export interface DiskRestoreTarget extends IngestTarget {
  /** The backend's ID of the VM. Another VM of its name is never changed. */
  readonly uid: string;
}

export interface RestoredDisk {
  /** In the mode `replace`, that of the disk in the VM. */
  readonly name: string;
  readonly sizeBytes: number;
  /** What the content takes; null if that is unknown. */
  readonly usedBytes: number | null;
}

export interface DiskRestoreSpec extends DiskRestoreTarget {
  readonly mode: DiskRestoreMode;
  readonly disks: readonly RestoredDisk[];
  /** The size of the variables of the firmware, which replace the present ones. Only in the mode `replace`. */
  readonly firmwareVariables?: { readonly sizeBytes: number };
}

export interface DiskRestorePlan extends Plan {
  /** Whether the variables of the firmware can be replaced, or why not. Meaningless if the spec has none. */
  readonly firmwareVariables: true | string;
}

/**
 * `partial`: the VM uses its former disks, and new ones are being filled. `committed`: it uses the new ones. `absent`:
 * there is nothing of the attempt, or the VM no longer exists.
 */
export type DiskRestoreState = 'absent' | 'partial' | 'committed';

/**
 * Restores disks of VMs that exist. Until `commit`, the VM is as it was, and the new content is in storage that no
 * guest uses. In the mode `replace`, `commit` changes all disks in one step and only then removes what they had, so
 * that the VM always has the old content or the new one as a whole. Its hardware stays as it is.
 */
export abstract class DiskRestore {
  /**
   * Changes nothing. The plan has every refusal that can be foreseen, and a warning for everything that is lost.
   * @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE
   */
  abstract plan(spec: DiskRestoreSpec): Promise<DiskRestorePlan>;

  /**
   * Creates blank disks for the content, and keeps other changes of the VM's disks away.
   * @throws DomainError the first refusal of the plan; nothing is left behind then
   */
  abstract begin(spec: DiskRestoreSpec): Promise<void>;

  /**
   * @param disk a name of the spec
   * @throws DomainError INSTANCE_NOT_FOUND, DEVICE_NOT_FOUND, WRONG_STATE unless the state is `partial`
   */
  abstract write(target: DiskRestoreTarget, disk: string, signal: AbortSignal): Promise<DiskWriter>;

  /** The hashes of the blocks of a new disk, as `DiskIngest.hashes`. @throws DomainError like `write` */
  abstract hashes(target: DiskRestoreTarget, disk: string, signal: AbortSignal): AsyncIterable<string>;

  /** Stores the variables of the firmware that the VM gets with `commit`. @throws DomainError like `write` */
  abstract writeFirmwareVariables(target: DiskRestoreTarget, content: Buffer): Promise<void>;

  /**
   * Lets the VM use the new disks. No error if it does already.
   * @throws DomainError INSTANCE_NOT_FOUND; WRONG_STATE if a VM whose disks are replaced was started or got other disks
   *   meanwhile, and then nothing has changed
   */
  abstract commit(target: DiskRestoreTarget): Promise<void>;

  /**
   * Removes the new content; the VM is as before. No error if there is nothing. @throws DomainError WRONG_STATE after
   * `commit`
   */
  abstract discard(target: DiskRestoreTarget): Promise<void>;

  abstract state(target: DiskRestoreTarget): Promise<DiskRestoreState>;
}
