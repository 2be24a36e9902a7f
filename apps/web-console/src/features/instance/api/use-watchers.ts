import { useQuery } from '@tanstack/react-query';
import { extensionPath, type InstanceAddress } from '../../../shared/api/instance-path.js';
import { getJson } from '../../../shared/api/request.js';

const INTERVAL_MS = 10_000;

/** Who has a console of a VM open. */
export const useWatchers = (vm: InstanceAddress, isWanted: boolean) =>
  useQuery({
    enabled: isWanted,
    queryKey: ['watchers', vm.context, vm.namespace, vm.name],
    queryFn: ({ signal }) => getJson(`${extensionPath(vm)}/watchers`, { query: { context: vm.context }, signal }),
    retry: false,
    refetchInterval: INTERVAL_MS,
  });
