import { useQuery } from '@tanstack/react-query';
import { getJson } from '../api/request.js';

/** The networks that VMs can be attached to, of all contexts. */
export const useNads = ({ enabled = true } = {}) =>
  useQuery({
    queryKey: ['nads'],
    queryFn: ({ signal }) => getJson('/api/nads', { signal }),
    enabled,
  });
