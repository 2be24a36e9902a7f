import { QueryClient } from '@tanstack/react-query';

/** No retries: failures are shown immediately, and important queries have a refetch interval. */
export const createQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: { queries: { retry: false, staleTime: 5_000 }, mutations: { retry: false } },
  });
