import { useQuery } from '@tanstack/react-query';

type Libraries = typeof import('./screen-libraries.js');

/** Loaded once, by whoever opens the first console. */
export function useLibraries(): { libraries: Libraries | undefined; error: Error | null; retry: () => void } {
  const { data, error, refetch } = useQuery({
    queryKey: ['screen-libraries'],
    queryFn: () => import('./screen-libraries.js'),
    staleTime: Infinity,
    gcTime: Infinity,
    structuralSharing: false,
  });
  return { libraries: data, error, retry: () => void refetch() };
}
