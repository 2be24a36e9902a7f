import type { InstanceRef, PowerAction } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import type { VmiObject, VmObject } from '../api/object-types.js';
import { VIRTUAL_MACHINES, VM_INSTANCES } from '../api/resources.js';

/** The requests that KubeVirt records in the status of a VM until they are done. Pausing has an effect immediately. */
const RECORDED: Partial<Record<PowerAction, 'Start' | 'Stop'>> = { start: 'Start', stop: 'Stop', restart: 'Start' };

/**
 * Whether KubeVirt has accepted an action whose answer is lost. Except for a restart, an action that has been carried
 * out is refused when it is sent again, so that only those in progress count.
 * @param instance the live instance before a restart
 */
export const isRequested =
  (api: KubeApi, ref: InstanceRef, action: PowerAction, instance?: VmiObject) => async (): Promise<boolean> => {
    const vm = await api.find<VmObject>(VIRTUAL_MACHINES, ref);
    if (vm?.status?.stateChangeRequests?.some((request) => request.action === RECORDED[action])) return true;
    if (action !== 'restart' || !instance) return false;
    const now = await api.find<VmiObject>(VM_INSTANCES, ref);
    return now?.metadata.uid !== instance.metadata.uid || now?.metadata.deletionTimestamp !== undefined;
  };
