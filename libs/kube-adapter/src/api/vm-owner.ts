import type { KubeObject, OwnerReference } from './kube-object.js';

/** Makes the cluster delete an object together with a VM, also if this service ends in the middle of the deletion. */
export const vmOwner = ({ metadata: { name = '', uid = '' } }: KubeObject): OwnerReference => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  name,
  uid,
});
