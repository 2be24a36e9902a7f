import type { VmStatus } from '@headgate/domain-contracts';

/** What `domstate --reason` says. */
export interface DomainState {
  /** libvirt's word: `running`, `paused`, `shut off`, … */
  readonly word: string;
  readonly reason: string;
  /** Whether its QEMU process is there. */
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

/** Words of libvirt's tools: https://gitlab.com/libvirt/libvirt/-/blob/v9.0.0/tools/virsh-domain-monitor.c */
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
      return { status: 'Paused', reason: 'The guest has put itself to sleep: resume it to wake it up.' };
    case 'shut off':
      return { status: 'Stopped', ...(reason in STOPPED_BADLY && { reason: STOPPED_BADLY[reason] }) };
    case 'crashed':
      return { status: 'CrashLoopBackOff', reason: 'The guest has crashed: stop it with force, then start it again.' };
    default:
      return { status: 'Unknown' };
  }
}

const STOPPED_BADLY: Readonly<Record<string, string>> = {
  crashed: "The machine's QEMU process ended by itself: its log is in libvirt's log folder.",
  failed: "The last start failed: its log is in libvirt's log folder.",
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
          'A disk of the guest fails, often because the host has no space left: free some, then resume the guest.',
      };
    case 'crashed':
      return { status: 'CrashLoopBackOff', reason: 'The guest has crashed: stop it with force, then start it again.' };
    case 'shutting down':
      return { status: 'Stopping' };
    default:
      return { status: 'Paused' };
  }
}
