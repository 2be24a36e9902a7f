import { useQuery } from '@tanstack/react-query';
import { instancePath, type InstanceAddress } from '../../../shared/api/instance-path.js';
import { getJson } from '../../../shared/api/request.js';

/** The backend's own object. */
export const useManifest = (address: InstanceAddress) =>
  useQuery({
    queryKey: ['manifest', address],
    queryFn: ({ signal }) => getJson(instancePath('vms', address), { query: { context: address.context }, signal }),
  });
