import { useQuery } from '@tanstack/react-query';
import { getJson } from '../api/request.js';

/** The networks of all contexts. */
export const useNetworks = ({ enabled = true } = {}) =>
  useQuery({
    queryKey: ['nads'],
    queryFn: ({ signal }) => getJson('/api/nads', { signal }),
    enabled,
  });
