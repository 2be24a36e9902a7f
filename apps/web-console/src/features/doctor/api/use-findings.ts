import { useQuery } from '@tanstack/react-query';
import { getJson } from '../../../shared/api/request.js';

/** The stream of the page has only the number of problems. */
const REFETCH_MS = 60_000;

/** The results of all checks, checked again whenever the page is opened, and every minute. */
export const useFindings = () =>
  useQuery({
    queryKey: ['findings'],
    queryFn: ({ signal }) => getJson('/api/ext/doctor', { signal }),
    staleTime: 0,
    refetchInterval: REFETCH_MS,
  });
