import { useQuery } from '@tanstack/react-query';
import { getJson } from '../api/request.js';

export const APPROVALS_KEY = ['approvals'] as const;
const REFRESH_INTERVAL_MS = 15_000;

/** The commits of agents that wait for the user. */
export const useApprovals = ({ enabled = true }: { readonly enabled?: boolean } = {}) =>
  useQuery({
    queryKey: APPROVALS_KEY,
    queryFn: ({ signal }) => getJson('/api/ext/approvals', { signal }),
    refetchInterval: REFRESH_INTERVAL_MS,
    enabled,
  });
