import { useQuery } from '@tanstack/react-query';
import { instancePath, type InstanceAddress } from '../../../shared/api/instance-path.js';
import { getJson } from '../../../shared/api/request.js';

/** The last events of a VM, newest first. */
export const useEvents = (address: InstanceAddress, enabled = true) =>
  useQuery({
    enabled,
    queryKey: ['events', address.context, address.namespace, address.name],
    queryFn: ({ signal }) =>
      getJson(`${instancePath('vms', address)}/events`, {
        query: { context: address.context },
        signal,
      }),
  });
