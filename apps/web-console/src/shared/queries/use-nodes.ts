import { useQuery } from '@tanstack/react-query';
import { getJson } from '../api/request.js';

export const useNodes = ({ enabled = true, refetchInterval = 15_000 } = {}) =>
  useQuery({
    queryKey: ['nodes'],
    queryFn: ({ signal }) => getJson('/api/nodes', { signal }),
    refetchInterval,
    enabled,
  });
