import type { ContainerView, VmView } from '@headgate/api-contracts';
import type { InstanceCollection } from '../api/instance-path.js';

/** A VM or a container, as the service lists it. */
export type Instance = VmView | ContainerView;

/** A container's phase corresponds to a VM's status. */
export type InstanceStatus = VmView['status'] | ContainerView['phase'];

export const isVm = (instance: Instance): instance is VmView => 'status' in instance;

export const statusOf = (instance: Instance): InstanceStatus => (isVm(instance) ? instance.status : instance.phase);

export const collectionOf = (instance: Instance): InstanceCollection => (isVm(instance) ? 'vms' : 'cts');

/** An instance as a route of its details needs it. */
export const readOf = (instance: Instance) => {
  const { context, namespace, name } = instance;
  return { context, namespace, name, collection: collectionOf(instance) };
};

/** Whether it has a guest whose usage can be measured now. */
export const isMeasured = (instance: Instance): boolean =>
  isVm(instance) ? instance.running : instance.phase === 'Running';
