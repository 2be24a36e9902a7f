import { useQuery } from '@tanstack/react-query';
import type { ApiRequest } from '../../../shared/actions/api-request.js';
import { extensionPath, instancePath, type InstanceAddress } from '../../../shared/api/instance-path.js';
import { getJson, withQuery } from '../../../shared/api/request.js';

const checkpointsPath = (vm: InstanceAddress) => `${extensionPath(vm)}/checkpoints` as const;

export const checkpointsKey = ({ context, namespace, name }: InstanceAddress) => [
  'checkpoints',
  context,
  namespace,
  name,
];

/** The checkpoints of a VM, the oldest first. */
export const useCheckpoints = (vm: InstanceAddress) =>
  useQuery({
    queryKey: checkpointsKey(vm),
    queryFn: ({ signal }) => getJson(checkpointsPath(vm), { query: { context: vm.context }, signal }),
  });

/** The deletion of a checkpoint. It can be rehearsed. */
export const checkpointDeletion = (vm: InstanceAddress, name: string): ApiRequest => ({
  method: 'DELETE',
  path: `${checkpointsPath(vm)}/${encodeURIComponent(name)}`,
  query: { context: vm.context },
});

/** The address of a download: the disk of a running VM, or its changes since a checkpoint. */
export const exportPath = (
  vm: InstanceAddress,
  options: { readonly checkpoint?: string; readonly since?: string },
): string => withQuery(`${instancePath('vms', vm)}/export`, { context: vm.context, ...options });
