import type { VmiObject, VmObject } from '../api/object-types.js';

/** Whether the guest ends, and is not started again: after a stop, until the live instance is gone. */
export function isStopping({ spec, status }: VmObject): boolean {
  const requests = status?.stateChangeRequests ?? [];
  if (requests.some(({ action }) => action === 'Stop')) return !willStart({ status });
  return spec?.runStrategy === 'Halted' || spec?.running === false;
}

/**
 * Whether a start is requested that KubeVirt has not carried out: of a VM that is restarted, until its guest has ended.
 */
export const willStart = ({ status }: Pick<VmObject, 'status'>): boolean =>
  status?.stateChangeRequests?.some(({ action }) => action === 'Start') === true;

/** A VM, and its live instance if there is one. */
interface VmAndInstance {
  readonly vm: VmObject;
  readonly vmi?: VmiObject;
}

export const isLive = ({ vmi }: Pick<VmAndInstance, 'vmi'>): boolean =>
  vmi !== undefined && !['Succeeded', 'Failed'].includes(vmi.status?.phase ?? '');

/** Whether KubeVirt starts the VM, which may have no instance yet. */
export const isToRun = ({ vm }: Pick<VmAndInstance, 'vm'>): boolean =>
  vm.spec?.runStrategy === 'Always' || vm.spec?.running === true;

/** Whether the VM runs or will run. One that is being stopped stays stopped, although its guest may still run. */
export const staysOn = (found: VmAndInstance): boolean => (isLive(found) || isToRun(found)) && !isStopping(found.vm);
