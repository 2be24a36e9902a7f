import { useQuery } from '@tanstack/react-query';
import type { CheckView } from '@headgate/api-contracts';
import { getJson } from '../api/request.js';

const checks = {
  queryKey: ['doctor'],
  queryFn: ({ signal }: { signal: AbortSignal }): Promise<CheckView[]> => getJson('/api/doctor', { signal }),
} as const;

/** The health checks of all contexts, checked again whenever a page asks for them. */
export const useChecks = () => useQuery({ ...checks, staleTime: 0 });

const problemCount = (all: readonly CheckView[]): number => all.filter(({ status }) => status !== 'ok').length;

/** The number of checks that did not pass; undefined while it is unknown. */
export const useProblemCount = (options: { enabled: boolean; refetchInterval: number }): number | undefined =>
  useQuery({ ...checks, ...options, staleTime: options.refetchInterval, select: problemCount }).data;
