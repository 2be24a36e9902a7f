import { CustomObjectsApi } from '@kubernetes/client-node';

const VMS = { group: 'kubevirt.io', version: 'v1', plural: 'virtualmachines' };

/**
 * The names of the VMs of a namespace that do not run, in alphabetical order.
 * @param {import('@kubernetes/client-node').KubeConfig} kubeConfig
 * @param {string} namespace
 */
export async function idleVms(kubeConfig, namespace) {
  const api = kubeConfig.makeApiClient(CustomObjectsApi);
  const { items } = await api.listNamespacedCustomObject({ ...VMS, namespace });
  return items
    .filter(({ status }) => status?.printableStatus === 'Stopped')
    .map(({ metadata }) => metadata.name)
    .sort();
}

/**
 * Deletes the VMs that are not running.
 * @returns the names of those that were deleted
 */
export async function deleteIdleVms(kubeConfig, namespace) {
  const api = kubeConfig.makeApiClient(CustomObjectsApi);
  const names = await idleVms(kubeConfig, namespace);
  for (const name of names) await api.deleteNamespacedCustomObject({ ...VMS, namespace, name });
  return names;
}
