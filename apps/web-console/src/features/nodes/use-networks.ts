import { useQuery } from '@tanstack/react-query';
import type { NetworkView } from '@headgate/api-contracts';
import { getJson } from '../../shared/api/request.js';

export const useNetworks = () =>
  useQuery({
    queryKey: ['nads'],
    queryFn: ({ signal }) => getJson<NetworkView[]>('/api/nads', { signal }),
  });
