import { useQuery } from '@tanstack/react-query';
import type { NodeView } from '@headgate/api-contracts';
import { getJson } from '../api/request.js';

export const useNodes = ({ enabled = true } = {}) =>
  useQuery({
    queryKey: ['nodes'],
    queryFn: ({ signal }) => getJson<NodeView[]>('/api/nodes', { signal }),
    refetchInterval: 15_000,
    enabled,
  });
