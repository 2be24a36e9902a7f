import { useQuery } from '@tanstack/react-query';
import type { ChangeView } from '@headgate/api-contracts';
import { refOfAddress } from '../../../shared/api/instance-path.js';
import { getResponse } from '../../../shared/api/request.js';
import { detailsKey, type ReadInstance } from './details-path.js';

/** The most that the service returns at once. */
const LIMIT = 1000;

interface Changes {
  /** The newest first. */
  readonly changes: readonly ChangeView[];
  /** Whether there are others after them. */
  readonly isCut: boolean;
}

/** How an instance has changed in the last 24 hours. */
export const useChanges = (instance: ReadInstance) =>
  useQuery({
    queryKey: ['changes', ...detailsKey(instance)],
    queryFn: async ({ signal }): Promise<Changes> => {
      const query = { ref: refOfAddress(instance, instance.collection), limit: LIMIT };
      const response = await getResponse('/api/ext/changes', { query, signal });
      const changes = await response.json();
      return { changes: changes.toReversed(), isCut: response.headers.get('svc-cursor') !== null };
    },
  });
