import { useQuery } from '@tanstack/react-query';
import type { InstancetypesView } from '@headgate/api-contracts';
import { getJson } from '../../../shared/api/request.js';

/** The instance types and preferences of a context. */
export const useInstancetypes = (context: string, enabled: boolean) =>
  useQuery({
    queryKey: ['instancetypes', context],
    queryFn: ({ signal }) => getJson<InstancetypesView>('/api/instancetypes', { query: { context }, signal }),
    enabled,
  });
