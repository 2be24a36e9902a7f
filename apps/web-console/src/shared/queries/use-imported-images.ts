import { useQuery } from '@tanstack/react-query';
import type { ImportedImageView } from '@headgate/api-contracts';
import { getResponse } from '../api/request.js';
import { CONTEXT_KEYS } from './stream-queries.js';

const BUSY_REFETCH_MS = 2_000;
const IDLE_REFETCH_MS = 15_000;

export const IMAGES_KEY = CONTEXT_KEYS.images;

export interface ImportedImages {
  readonly images: readonly ImportedImageView[];
  /** Whether the images of a context are missing. */
  readonly isPartial: boolean;
}

/** The imported images of all contexts, refetched more often while one of them is incomplete. */
export const useImportedImages = ({ enabled = true, refetchInterval = IDLE_REFETCH_MS as number | false } = {}) =>
  useQuery({
    enabled,
    queryKey: IMAGES_KEY,
    queryFn: async ({ signal }): Promise<ImportedImages> => {
      const response = await getResponse('/api/datavolumes', { signal });
      return {
        images: (await response.json()) as ImportedImageView[],
        isPartial: response.headers.get('svc-partial') === 'true',
      };
    },
    refetchInterval: ({ state: { data } }) => (data?.images.some(isIncomplete) ? BUSY_REFETCH_MS : refetchInterval),
  });

export const isReady = ({ phase }: ImportedImageView): boolean => phase === 'Succeeded';

const isIncomplete = (image: ImportedImageView): boolean => !isReady(image) && image.phase !== 'Failed';
