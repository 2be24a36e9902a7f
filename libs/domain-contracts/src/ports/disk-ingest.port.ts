import type { DiskWriter } from '../model/disk-writer.js';
import type { Loss } from '../model/loss.js';
import type { PortableVm, ResourceMapping } from '../model/portable-vm.js';
import type { Plan } from '../model/plan.js';
import type { LocalDisk } from './disk-source.port.js';
import { DomainError } from '../values/domain-error.js';
import type { InstanceRef } from '../values/instance-ref.js';

/** A VM that is being received. */
export interface IngestTarget {
  /** A UUID that identifies this attempt, so that it can be found again after a restart. */
  readonly id: string;
  readonly ref: InstanceRef;
}

export interface IngestSpec extends IngestTarget {
  readonly vm: PortableVm;
  readonly mapping: ResourceMapping;
}

export interface IngestPlan extends Plan {
  /** Properties of the VM that it will not have here. */
  readonly losses: readonly Loss[];
  /** Whether the variables of the firmware can be stored here, or why not. Meaningless for a VM without any. */
  readonly firmwareVariables: true | string;
  /** The format of the new disks, such as `qcow2`. */
  readonly format: string;
  /** How many bytes of disks fit; absent when that is unknown. */
  readonly availableBytes?: number;
}

/** `partial`: it has a name and disks, but can't be started. `committed`: it is a VM like any other. */
export type IngestState = 'absent' | 'partial' | 'committed';

/** A disk of the machine of the service as the content of a new one. */
export interface DiskFilling {
  readonly from: LocalDisk;
  /** @param offset roughly how much of the disk has been copied */
  readonly report: (offset: number) => void;
  readonly signal: AbortSignal;
}

/** Changes the content of a disk that was written before. */
export interface DiskUpdate extends DiskWriter {
  /** Replaces the present content, with zeros as well. Offsets may be in any order. */
  write(offset: number, data: Buffer): Promise<void>;
  /** The present content. @param length at most `DISK_BLOCK_BYTES` */
  read(offset: number, length: number): Promise<Buffer>;
}

/**
 * Receives VMs from other backends. Until `commit`, the VM has its name but can't be started; `discard` removes every
 * trace of it. A VM that was committed is never removed.
 */
export abstract class DiskIngest {
  /**
   * Whether this backend can receive VMs now.
   * @throws DomainError NOT_SUPPORTED with the reason, BACKEND_UNREACHABLE
   */
  abstract check(): Promise<void>;

  /**
   * Changes nothing. The plan contains every refusal that the backend can foresee.
   * @throws DomainError BACKEND_UNREACHABLE
   */
  abstract plan(spec: IngestSpec): Promise<IngestPlan>;

  /**
   * Takes the name and creates blank disks.
   * @returns properties of the VM that it turned out not to get, besides those of the plan
   * @throws DomainError the first refusal of the plan; nothing is left behind then
   */
  abstract begin(spec: IngestSpec): Promise<readonly Loss[]>;

  /**
   * @param disk a name of the spec
   * @throws DomainError INSTANCE_NOT_FOUND, DEVICE_NOT_FOUND, WRONG_STATE after `commit`
   */
  abstract write(target: IngestTarget, disk: string, signal: AbortSignal): Promise<DiskWriter>;

  /**
   * Copies a disk of the machine of the service without this process in between, and replaces what an interrupted copy
   * has left. Both disks are free when it ends, however it ends; the content is undefined after a failure.
   * @returns how many bytes the copy takes; undefined if disks can't be filled this way, so that they have to be
   *   written
   * @throws DomainError like `write`, BUSY when another program uses the source, VOLUME_NOT_FOUND, INSUFFICIENT_STORAGE
   */
  async fill(_target: IngestTarget, _disk: string, _filling: DiskFilling): Promise<number | undefined> {
    return undefined;
  }

  /**
   * The hashes of the blocks of a disk, read back from where it was written. See `hashesOf`. Blocks of zeros at its end
   * may be missing.
   * @throws DomainError like `write`
   */
  abstract hashes(target: IngestTarget, disk: string, signal: AbortSignal): AsyncIterable<string>;

  /**
   * Stores the variables of the firmware, in place of those that were stored before.
   * @throws DomainError like `write`
   */
  writeFirmwareVariables({ ref }: IngestTarget, _content: Buffer): Promise<void> {
    return Promise.reject(new DomainError('NOT_SUPPORTED', `The firmware of ${ref.name} has no variables here.`));
  }

  /** Reads them back from where they are stored. */
  readFirmwareVariables({ ref }: IngestTarget): Promise<Buffer> {
    return Promise.reject(new DomainError('NOT_SUPPORTED', `The firmware of ${ref.name} has no variables here.`));
  }

  /**
   * Why parts of a disk can't be written again once it was filled, so that a guest can't run meanwhile; undefined when
   * they can.
   */
  get updateProblem(): string | undefined {
    return 'Disks can be written there only once, and as a whole.';
  }

  /**
   * Opens a disk that was filled, to change parts of it.
   * @throws DomainError like `write`, and NOT_SUPPORTED if there is an `updateProblem`
   */
  async update(_target: IngestTarget, _disk: string, _signal: AbortSignal): Promise<DiskUpdate> {
    throw new DomainError('NOT_SUPPORTED', this.updateProblem ?? 'Disks are not changed.');
  }

  /** Turns it into a stopped VM. No error if it is one already. @throws DomainError INSTANCE_NOT_FOUND */
  abstract commit(target: IngestTarget): Promise<void>;

  /** Removes it with its disks. No error if it does not exist. @throws DomainError WRONG_STATE after `commit` */
  abstract discard(target: IngestTarget): Promise<void>;

  abstract state(target: IngestTarget): Promise<IngestState>;
}
