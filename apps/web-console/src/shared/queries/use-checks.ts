import { useQuery } from '@tanstack/react-query';
import type { CheckView, StreamHealthView } from '@headgate/api-contracts';
import { getJson } from '../api/request.js';
import { STREAMED_KEYS, useFreshness } from './stream-queries.js';

const countsOf = (all: readonly CheckView[]): StreamHealthView => {
  const count = (status: CheckView['status']): number => all.filter((check) => check.status === status).length;
  return { ok: count('ok'), warning: count('warning'), error: count('error') };
};

const problemCount = ({ warning, error }: StreamHealthView): number => warning + error;

/**
 * The number of checks that did not pass; undefined while it is unknown.
 * @param isPolled whether to check, because the stream fails
 * @param pollMs how often
 */
export const useProblemCount = ({ isPolled, pollMs }: { isPolled: boolean; pollMs: number }): number | undefined =>
  useQuery({
    queryKey: STREAMED_KEYS.health,
    queryFn: async ({ signal }) => countsOf(await getJson('/api/doctor', { signal })),
    select: problemCount,
    ...useFreshness(pollMs),
    enabled: isPolled,
  }).data;
