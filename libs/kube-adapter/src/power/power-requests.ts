import type { VmObject } from '../api/object-types.js';

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
