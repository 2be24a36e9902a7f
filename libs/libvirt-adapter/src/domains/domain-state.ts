import type { VmStatus } from '@headgate/domain-contracts';

/** The parsed output of `domstate --reason`. */
export interface DomainState {
  /** libvirt's name of the state: `running`, `paused`, `shut off`, … */
  readonly word: string;
  readonly reason: string;
  /** Whether it has a QEMU process. */
  readonly isActive: boolean;
}

export function parseDomainState(output: string): DomainState {
  const [, word = 'no state', reason = ''] = /^\s*([a-z ]+?)\s*(?:\((.*)\))?\s*$/m.exec(output) ?? [];
  return { word, reason, isActive: !['shut off', 'crashed', 'no state'].includes(word) };
}

export interface StatusAndReason {
  readonly status: VmStatus;
  readonly reason?: string;
}

/** States as virsh prints them: https://gitlab.com/libvirt/libvirt/-/blob/v9.0.0/tools/virsh-domain-monitor.c */
export function statusOf({ word, reason }: DomainState): StatusAndReason {
  switch (word) {
    case 'running':
    case 'idle':
    case 'blocked':
      return { status: 'Running' };
    case 'paused':
      return paused(reason);
    case 'in shutdown':
      return { status: 'Stopping' };
    case 'pmsuspended':
      return { status: 'Paused', reason: 'The guest suspended itself: resume it to wake it up.' };
    case 'shut off':
      return { status: 'Stopped', ...(reason in STOPPED_BADLY && { reason: STOPPED_BADLY[reason] }) };
    case 'crashed':
      return { status: 'CrashLoopBackOff', reason: 'The guest crashed: force stop it, then start it again.' };
    default:
      return { status: 'Unknown' };
  }
}

const STOPPED_BADLY: Readonly<Record<string, string>> = {
  crashed: "The QEMU process exited unexpectedly: see its log in libvirt's log folder.",
  failed: "The last start failed: see the QEMU log in libvirt's log folder.",
};

function paused(reason: string): StatusAndReason {
  switch (reason) {
    case 'starting up':
      return { status: 'Starting' };
    case 'migrating':
      return { status: 'Migrating' };
    case 'I/O error':
      return {
        status: 'Paused',
        reason:
          'A disk reported I/O errors, often because the host has no space left: free some space, then resume the VM.',
      };
    case 'crashed':
      return { status: 'CrashLoopBackOff', reason: 'The guest crashed: force stop it, then start it again.' };
    case 'shutting down':
      return { status: 'Stopping' };
    default:
      return { status: 'Paused' };
  }
}
