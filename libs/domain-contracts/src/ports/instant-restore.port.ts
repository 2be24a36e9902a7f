import type { Plan } from '../model/plan.js';
import type { InstanceRef } from '../values/instance-ref.js';
import type { ProofDisk } from './boot-proof.port.js';
import type { IngestTarget } from './disk-ingest.port.js';

export interface InstantRestoreSpec extends IngestTarget {
  /** The disks with which `DiskIngest.begin` was called. They are read where they are, and never changed. */
  readonly disks: readonly ProofDisk[];
}

export interface InstantRestoreReport {
  /** Before the guest runs for the first time. If it throws, the guest is not started. */
  starting(): Promise<void>;
  /** The guest runs for the first time. */
  started(): void;
  /** Bytes of all disks that no longer need the backup. */
  copied(doneBytes: number, totalBytes: number): void;
  /** Called again with each attempt. @param reason one sentence: why nothing is copied at the moment */
  waits(reason: string): void;
}

/**
 * `blank`: its guest never ran, so it may be discarded. `running`: its guest runs or ran, and needs the backup.
 * `complete`: it needs the backup no longer. `absent`: there is no such VM.
 */
export type InstantRestoreState = 'absent' | 'blank' | 'running' | 'complete';

/**
 * Lets a VM that `DiskIngest` receives run before its disks are filled: what it has not got yet is read from the
 * backup, while all of it is copied. A guest never sees a failed read of the backup: it is paused until the read
 * succeeds, and keeps everything that it has written. The VM can be stopped, started and deleted meanwhile.
 */
export abstract class InstantRestore {
  /**
   * Refusals and warnings besides those of `DiskIngest.plan`. Changes nothing.
   * @throws DomainError BACKEND_UNREACHABLE
   */
  abstract plan(ref: InstanceRef): Promise<Plan>;

  /**
   * Starts the guest of a blank VM, once, and copies everything. Call it again after the process has ended, or after
   * `signal` has ended it: the guest waits meanwhile when it needs something that is not copied yet.
   * @returns how the VM is then
   * @throws DomainError BUSY if it runs already, what `starting` throws, INSUFFICIENT_STORAGE, BACKEND_FAILED when the
   *   guest can't be started, and the reason of the signal
   */
  abstract run(
    spec: InstantRestoreSpec,
    report: InstantRestoreReport,
    signal: AbortSignal,
  ): Promise<'complete' | 'absent'>;

  abstract state(target: IngestTarget): Promise<InstantRestoreState>;

  /** Removes what has served the disks of a VM that is absent or complete. No error if there is nothing. */
  abstract discard(target: IngestTarget): Promise<void>;
}
