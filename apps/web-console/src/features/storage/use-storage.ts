import { useQuery } from '@tanstack/react-query';
import { getJson } from '../../shared/api/request.js';
import { CONTEXT_KEYS } from '../../shared/queries/stream-queries.js';

/** The stream has no topic for storage. It changes slowly, and each request asks every context. */
const REFRESH_MS = 60_000;

export const useStorage = () =>
  useQuery({
    queryKey: CONTEXT_KEYS.storage,
    queryFn: ({ signal }) => getJson('/api/ext/storage', { signal }),
    refetchInterval: REFRESH_MS,
  });
