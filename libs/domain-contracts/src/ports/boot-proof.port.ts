import type { BootSign } from '../model/boot-sign.js';
import type { Plan } from '../model/plan.js';
import type { PortableVm } from '../model/portable-vm.js';
import type { InstanceRef } from '../values/instance-ref.js';

/** A disk that a proof boots from. It is read where it is, and never changed. */
export interface ProofDisk {
  /** As in the VM. */
  readonly name: string;
  readonly sizeBytes: number;
  /** Any part of the disk, at most 32 MiB at a time. @throws for a part that is damaged */
  read(offset: number, length: number): Promise<Buffer>;
}

export interface BootRequest {
  /** A new UUID, which identifies the guest of this proof and everything that is created for it. */
  readonly id: string;
  readonly vm: PortableVm;
  /** The VM that was backed up, which may no longer exist. Backends with namespaces boot the copy in its namespace. */
  readonly origin?: InstanceRef;
  /** A program of the guest, which its agent runs: the guest is up when it exits with 0. No shell interprets it. */
  readonly command?: { readonly path: string; readonly args: readonly string[] };
}

export interface BootPlan extends Plan {
  /** Whether all of the disks is read before the guest starts. */
  readonly readsAll?: boolean;
}

export interface BootSpec extends BootRequest {
  /** Those of `vm`, in its order. */
  readonly disks: readonly ProofDisk[];
  readonly firmwareVariables?: Buffer;
  /** Of the guest, from its start. */
  readonly timeLimitMs: number;
  /** Called while the disks are copied. Never where they are served. */
  readonly onCopied?: (doneBytes: number, totalBytes: number) => void;
}

export interface BootOutcome {
  /** Absent if the guest did not come up. A command that has failed is a sign as well. */
  readonly sign?: BootSign;
  /** One sentence: why the guest has not booted. Absent if it has. */
  readonly problem?: string;
  /** From the start of the guest until the sign or the problem. */
  readonly bootMs: number;
  /** Read from the disks by the guest. Absent where that is unknown. */
  readonly readBytes?: number;
  /** SHA-256 of the content of each disk, in hexadecimal, if all of them was read before the guest was started. */
  readonly sha256?: readonly string[];
  /** The screen as PNG, if it could be taken. */
  readonly picture?: Buffer;
}

/**
 * Boots copies of VMs for a moment, without a network, host devices and shared folders. Their changes go to temporary
 * files or volumes. No other guest is touched, and nothing is left when a call ends.
 */
export abstract class BootProof {
  /** Changes nothing. @throws DomainError BACKEND_UNREACHABLE */
  abstract plan(request: BootRequest): Promise<BootPlan>;

  /**
   * Resolves also when the guest does not boot. `signal` ends it.
   * @throws DomainError the first refusal of the plan, INSUFFICIENT_STORAGE, BACKEND_FAILED when it can't be started
   */
  abstract boot(spec: BootSpec, signal: AbortSignal): Promise<BootOutcome>;

  /** Removes what a boot has left that ended with its process. No error if there is nothing. */
  abstract discard(id: string): Promise<void>;
}
