import {
  extensionPath,
  instancePath,
  type InstanceAddress,
  type InstanceCollection,
} from '../../../shared/api/instance-path.js';

/** The address and the kind of an instance; a VM if it names none. */
export interface ReadInstance extends InstanceAddress {
  readonly collection?: InstanceCollection;
}

/** The path of the details that the contract has for VMs, and that are extensions for containers. */
export const detailsPath = ({ collection = 'vms', ...address }: ReadInstance) =>
  collection === 'vms' ? instancePath('vms', address) : extensionPath(address, 'cts');

/** The key of a query: a VM and a container may have the same name. */
export const detailsKey = ({ collection = 'vms', context, namespace, name }: ReadInstance) =>
  collection === 'vms' ? [context, namespace, name] : [context, namespace, name, collection];
