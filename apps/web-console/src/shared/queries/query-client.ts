import { QueryClient } from '@tanstack/react-query';
import { USAGE_KEY } from './stream-queries.js';

/** No retries: failures are shown immediately, and important queries have a refetch interval. */
export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: { queries: { retry: false, staleTime: 5_000 }, mutations: { retry: false } },
  });
  // Samples of thousands of instances differ each time, so a comparison with the last ones is wasted.
  client.setQueryDefaults(USAGE_KEY, { structuralSharing: false });
  return client;
}
