import { QueryClient } from '@tanstack/react-query';

/** Failures are shown at once, in the service's words; what matters is asked for again by its interval. */
export const createQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: { queries: { retry: false, staleTime: 5_000 }, mutations: { retry: false } },
  });
