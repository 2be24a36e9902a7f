import { useQuery } from '@tanstack/react-query';
import { instancePath, type InstanceAddress } from '../../../shared/api/instance-path.js';
import { getJson } from '../../../shared/api/request.js';

/** What the agent of a running guest reports. */
export const useGuestInfo = (address: InstanceAddress, enabled = true) =>
  useQuery({
    enabled,
    queryKey: ['guestinfo', address.context, address.namespace, address.name],
    queryFn: ({ signal }) =>
      getJson(`${instancePath('vms', address)}/guestinfo`, {
        query: { context: address.context },
        signal,
      }),
    // A guest without an agent will not have one a moment later.
    retry: false,
  });
