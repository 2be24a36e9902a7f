import { useQuery } from '@tanstack/react-query';
import type { CatalogEntryView } from '@headgate/api-contracts';
import { getJson } from '../../../shared/api/request.js';

export const useImages = () =>
  useQuery({
    queryKey: ['images'],
    queryFn: ({ signal }) => getJson<CatalogEntryView[]>('/api/images', { signal }),
  });
