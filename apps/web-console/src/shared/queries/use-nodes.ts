import { useQuery } from '@tanstack/react-query';
import { getJson } from '../api/request.js';
import { CONTEXT_KEYS } from './stream-queries.js';

export const useNodes = ({ enabled = true, refetchInterval = 15_000 as number | false } = {}) =>
  useQuery({
    queryKey: CONTEXT_KEYS.nodes,
    queryFn: ({ signal }) => getJson('/api/nodes', { signal }),
    refetchInterval,
    enabled,
  });
