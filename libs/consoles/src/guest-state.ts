import {
  isVm,
  type Clock,
  type Instance,
  type InstanceDirectory,
  type InstanceRef,
  type VmStatus,
} from '@headgate/domain-contracts';

/** What the broker knows about the guest behind a console. */
export interface GuestState {
  isRunning(): boolean;
  /** Resolves when the guest runs, or with false when it has ended: a guest that restarts comes back. */
  whenRunning(): Promise<boolean>;
}

/** How long a restart may take. */
const RESTART_TIMEOUT_MS = 300_000;
/** A restart may show the guest as stopped for a moment. One that stays stopped longer has ended. */
const STOPPED_TIMEOUT_MS = 10_000;

const RUNNING: ReadonlySet<VmStatus> = new Set<VmStatus>(['Running', 'Paused', 'Migrating']);

/** The state of the VM that has the ref now. A VM that is created later under the same name is another one. */
export class VmState implements GuestState {
  private readonly uid: string | undefined;

  constructor(
    private readonly directory: InstanceDirectory,
    private readonly clock: Clock,
    private readonly ref: InstanceRef,
  ) {
    this.uid = directory.get(ref)?.uid;
  }

  isRunning(): boolean {
    const status = this.status();
    return status !== undefined && RUNNING.has(status);
  }

  async whenRunning(): Promise<boolean> {
    const deadline = this.clock.now() + RESTART_TIMEOUT_MS;
    for (;;) {
      const status = this.status();
      const leftMs = deadline - this.clock.now();
      if (status === undefined || leftMs <= 0) return false;
      if (RUNNING.has(status)) return true;
      const timeoutMs = status === 'Stopped' ? Math.min(leftMs, STOPPED_TIMEOUT_MS) : leftMs;
      await this.directory.waitFor(this.ref, (instance) => this.statusOf(instance) !== status, timeoutMs);
      if (this.status() === status) return false;
    }
  }

  /** Undefined when the VM is gone. */
  private status(): VmStatus | undefined {
    return this.statusOf(this.directory.get(this.ref));
  }

  private statusOf(instance: Instance | undefined): VmStatus | undefined {
    return instance && isVm(instance) && instance.uid === this.uid ? instance.status : undefined;
  }
}
