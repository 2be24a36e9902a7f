import { useQuery } from '@tanstack/react-query';
import { getJson } from '../../shared/api/request.js';

export const useNetworks = () =>
  useQuery({
    queryKey: ['nads'],
    queryFn: ({ signal }) => getJson('/api/nads', { signal }),
  });
