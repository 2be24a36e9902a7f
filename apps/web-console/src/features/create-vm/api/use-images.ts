import { useQuery } from '@tanstack/react-query';
import type { CatalogEntryView } from '@headgate/api-contracts';
import { getJson } from '../../../shared/api/request.js';
import type { ContextCapabilities } from '../../../shared/queries/use-capabilities.js';

export const useImages = () =>
  useQuery({
    queryKey: ['images'],
    queryFn: ({ signal }) => getJson('/api/images', { signal }),
  });

/** Whether a context can create VMs from an image of the catalog. */
export const canUse = (context: ContextCapabilities | undefined, { kind }: Pick<CatalogEntryView, 'kind'>): boolean =>
  context === undefined || context.imageKinds.includes(kind);
