import type { VmStatus } from '@headgate/domain-contracts';
import type { DomainState } from '../connection/domain-state.js';

export interface StatusAndReason {
  readonly status: VmStatus;
  readonly reason?: string;
}

/** Whether QEMU has paused the guest because a disk could not be read or written. */
export const isIoError = ({ word, reason }: DomainState): boolean => word === 'paused' && reason === 'I/O error';

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
  daemon: 'The guest was ended because libvirt lost its QEMU process: start it again.',
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
    case 'watchdog':
      return { status: 'Paused', reason: 'The watchdog paused the guest, because it no longer reacted: restart it.' };
    case 'post-copy failed':
      return { status: 'Paused', reason: 'The migration of the guest failed halfway, and its memory is incomplete.' };
    case 'crashed':
      return { status: 'CrashLoopBackOff', reason: 'The guest crashed: force stop it, then start it again.' };
    case 'shutting down':
      return { status: 'Stopping' };
    default:
      return { status: 'Paused' };
  }
}
