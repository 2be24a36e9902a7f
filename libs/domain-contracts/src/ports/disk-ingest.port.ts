import type { PortableVm, ResourceMapping } from '../model/portable-vm.js';
import type { Plan } from '../model/plan.js';
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
  /** Properties of the VM that it will not have here: one sentence each. */
  readonly dropped: readonly string[];
  /** The format of the new disks, such as `qcow2`. */
  readonly format: string;
}

/** `partial`: it has a name and disks, but can't be started. `committed`: it is a VM like any other. */
export type IngestState = 'absent' | 'partial' | 'committed';

/** Writes the content of one disk. */
export interface DiskWriter {
  /**
   * Offsets ascend; parts that are not written are zeros. Resolves when the next part can be taken, which may be before this one is on the disk.
   * @throws DomainError INSUFFICIENT_STORAGE, BACKEND_FAILED
   */
  write(offset: number, data: Buffer): Promise<void>;
  /** Resolves once everything is on the disk, which is free then. */
  finish(): Promise<void>;
  /** Frees the disk, whose content is undefined then. No error if it is free already. */
  abort(): Promise<void>;
}

/**
 * Receives VMs from other backends. Until `commit`, the VM has its name but can't be started; `discard` removes every trace of it. A VM that was
 * committed is never removed.
 */
export abstract class DiskIngest {
  /** Whether this backend can receive VMs now. @throws DomainError NOT_SUPPORTED with the reason, BACKEND_UNREACHABLE */
  abstract check(): Promise<void>;

  /** Changes nothing. The plan contains every refusal that the backend can foresee. @throws DomainError BACKEND_UNREACHABLE */
  abstract plan(spec: IngestSpec): Promise<IngestPlan>;

  /**
   * Takes the name and creates blank disks.
   * @throws DomainError the first refusal of the plan; nothing is left behind then
   */
  abstract begin(spec: IngestSpec): Promise<void>;

  /** @param disk a name of the spec @throws DomainError INSTANCE_NOT_FOUND, DEVICE_NOT_FOUND, WRONG_STATE after `commit` */
  abstract write(target: IngestTarget, disk: string, signal: AbortSignal): Promise<DiskWriter>;

  /**
   * The hashes of the blocks of a disk, read back from where it was written. See `hashesOf`. Blocks of zeros at its end may be missing.
   * @throws DomainError like `write`
   */
  abstract hashes(target: IngestTarget, disk: string, signal: AbortSignal): AsyncIterable<string>;

  /** Turns it into a stopped VM. No error if it is one already. @throws DomainError INSTANCE_NOT_FOUND */
  abstract commit(target: IngestTarget): Promise<void>;

  /** Removes it with its disks. No error if it does not exist. @throws DomainError WRONG_STATE after `commit` */
  abstract discard(target: IngestTarget): Promise<void>;

  abstract state(target: IngestTarget): Promise<IngestState>;
}
