import { useQuery } from '@tanstack/react-query';
import { getJson } from '../../shared/api/request.js';
import { CONTEXT_KEYS } from '../../shared/queries/stream-queries.js';

/** The stream has no topic for networks. They change rarely, and each request asks every context. */
const REFRESH_MS = 60_000;

export const useNetworks = () =>
  useQuery({
    queryKey: CONTEXT_KEYS.networks,
    queryFn: ({ signal }) => getJson('/api/ext/networks', { signal }),
    refetchInterval: REFRESH_MS,
  });
