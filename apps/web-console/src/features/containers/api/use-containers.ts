import { useQuery } from '@tanstack/react-query';
import type { ContainerView } from '@headgate/api-contracts';
import { getJson } from '../../../shared/api/request.js';

export const CONTAINERS_KEY = ['containers'] as const;
const EVERY_MS = 3_000;

/** Containers have no event stream; they are asked for again and again. */
export const useContainers = () =>
  useQuery({
    queryKey: CONTAINERS_KEY,
    queryFn: ({ signal }) => getJson<ContainerView[]>('/api/cts', { signal }),
    refetchInterval: EVERY_MS,
  });
