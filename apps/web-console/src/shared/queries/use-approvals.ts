import { useQuery } from '@tanstack/react-query';
import { getJson } from '../api/request.js';

export const APPROVALS_KEY = ['approvals'] as const;
const REFRESH_INTERVAL_MS = 15_000;
const FRESH_MS = 5_000;

interface Options {
  readonly enabled?: boolean;
  /** How often they are requested again. Default: as often as a page that shows them needs it. */
  readonly refetchInterval?: number | false;
}

/** The commits of agents that wait for the user. They are not in the stream of the page. */
export const useApprovals = ({ enabled = true, refetchInterval = REFRESH_INTERVAL_MS }: Options = {}) =>
  useQuery({
    queryKey: APPROVALS_KEY,
    queryFn: ({ signal }) => getJson('/api/ext/approvals', { signal }),
    refetchInterval,
    staleTime: FRESH_MS,
    enabled,
  });
