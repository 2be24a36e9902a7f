import { useQuery } from '@tanstack/react-query';
import { getJson } from '../../../shared/api/request.js';

export const useChecks = () =>
  useQuery({
    queryKey: ['doctor'],
    queryFn: ({ signal }) => getJson('/api/doctor', { signal }),
    staleTime: 0,
  });
