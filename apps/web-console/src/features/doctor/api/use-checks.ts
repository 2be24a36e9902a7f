import { useQuery } from '@tanstack/react-query';
import type { CheckView } from '@headgate/api-contracts';
import { getJson } from '../../../shared/api/request.js';

export const useChecks = () =>
  useQuery({
    queryKey: ['doctor'],
    queryFn: ({ signal }) => getJson<CheckView[]>('/api/doctor', { signal }),
    staleTime: 0,
  });
