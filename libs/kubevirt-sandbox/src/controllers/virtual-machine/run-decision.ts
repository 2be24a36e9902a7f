import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import { runStrategyOf, type VirtualMachine } from '../../types/virtual-machine.js';
import { isFinal } from '../../machines/printable-status.js';

/** The next action of the VM controller on its VMI. */
export type RunDecision = 'create' | 'delete' | 'rerun' | 'start-paused' | 'none';

/**
 * Applies the run strategy to the current state. Requests of the subresources are in `status.stateChangeRequests`; the
 * first of them counts.
 */
export function runDecision(vm: VirtualMachine, vmi: VirtualMachineInstance | undefined): RunDecision {
  const request = vm.status?.stateChangeRequests?.[0];
  const stopRequested = vmi !== undefined && request?.action === 'Stop' && request.uid === vmi.metadata.uid;
  const startRequested = request?.action === 'Start';
  if (vmi?.metadata.deletionTimestamp) return 'none';
  if (stopRequested) return 'delete';

  switch (runStrategyOf(vm)) {
    case 'Always':
      if (!vmi) return 'create';
      return isFinal(vmi) ? 'delete' : 'none';
    case 'RerunOnFailure':
      if (vmi) return vmi.status?.phase === 'Failed' ? 'rerun' : 'none';
      return startRequested || vm.status?.runStrategy !== 'RerunOnFailure' ? 'create' : 'none';
    case 'Once':
      return !vmi && (startRequested || vm.status?.runStrategy !== 'Once') ? 'create' : 'none';
    case 'Manual':
      if (!vmi) return startRequested ? 'create' : 'none';
      return startRequested && isFinal(vmi) ? 'delete' : 'none';
    case 'Halted':
      if (vmi) return 'delete';
      return startRequested ? 'start-paused' : 'none';
    default:
      return 'none';
  }
}

/** Removes requests that are done, or can no longer be done. */
export function openRequests(vm: VirtualMachine, vmi: VirtualMachineInstance | undefined) {
  return (vm.status?.stateChangeRequests ?? []).filter(({ action, uid }, index) => {
    if (action === 'Stop') return vmi !== undefined && vmi.metadata.uid === uid;
    return index > 0 || vmi === undefined || isFinal(vmi) || vmi.metadata.deletionTimestamp !== undefined;
  });
}
