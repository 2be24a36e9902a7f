import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { InstanceCollection } from '../api/instance-path.js';
import { getResponse } from '../api/request.js';
import type { Instance } from '../instances/instance.js';
import { SortedEntries } from '../fleet/sorted-entries.js';

/** A list as of a moment. */
export interface PastEntries<E> {
  readonly entries: readonly E[];
  /** Whether a context was lost then. */
  readonly isPartial: boolean;
  /** When the recording ended before the moment, if nothing was recorded then; in ISO 8601. */
  readonly gapSince?: string;
}

/** The list as of a moment. The one before is shown until it arrives. */
export const usePastList = <E extends Instance>(collection: InstanceCollection, at: string) =>
  useQuery({
    queryKey: ['past', collection, at],
    queryFn: async ({ signal }): Promise<PastEntries<E>> => {
      const response = await getResponse(`/api/${collection}`, { query: { at }, signal });
      const sorted = new SortedEntries<E>();
      sorted.reset((await response.json()) as unknown as E[]);
      const gap = response.headers.get('svc-gap');
      return {
        entries: sorted.list(),
        isPartial: response.headers.get('svc-partial') !== null,
        ...(gap !== null && { gapSince: gap.split('/')[0]! }),
      };
    },
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
