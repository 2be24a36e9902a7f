import { useQuery } from '@tanstack/react-query';

type Libraries = typeof import('./screen-libraries.js');

/** Loads the libraries once, when the first console opens. */
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
