import { useQuery } from '@tanstack/react-query';
import { getJson } from '../../../shared/api/request.js';

/** The instance types and preferences of a context. */
export const useInstancetypes = (context: string, enabled: boolean) =>
  useQuery({
    queryKey: ['instancetypes', context],
    queryFn: ({ signal }) => getJson('/api/instancetypes', { query: { context }, signal }),
    enabled,
  });
