import { useQuery } from '@tanstack/react-query';
import { getJson } from '../api/request.js';

export const useNodes = ({ enabled = true } = {}) =>
  useQuery({
    queryKey: ['nodes'],
    queryFn: ({ signal }) => getJson('/api/nodes', { signal }),
    refetchInterval: 15_000,
    enabled,
  });
