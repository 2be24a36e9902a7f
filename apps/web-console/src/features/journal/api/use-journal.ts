import { useInfiniteQuery } from '@tanstack/react-query';
import type { JournalEntryView, JournalQueryDto } from '@headgate/api-contracts';
import { getResponse } from '../../../shared/api/request.js';

export interface JournalFilters {
  readonly caller: string;
  readonly ref: string;
  readonly outcome: NonNullable<JournalQueryDto['outcome']> | '';
}

interface JournalPage {
  readonly entries: readonly JournalEntryView[];
  /** Leads to the older entries. */
  readonly cursor: string | undefined;
}

const PAGE_ENTRIES = 100;

/** The journal, the newest entries first; older ones are loaded on request. */
export const useJournal = ({ caller, ref, outcome }: JournalFilters) =>
  useInfiniteQuery({
    queryKey: ['journal', caller, ref, outcome],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ signal, pageParam }): Promise<JournalPage> => {
      const query = {
        caller: caller || undefined,
        ref: ref || undefined,
        outcome: outcome || undefined,
        cursor: pageParam,
        limit: PAGE_ENTRIES,
      };
      const response = await getResponse('/api/ext/journal', { query, signal });
      return {
        entries: (await response.json()) as JournalEntryView[],
        cursor: response.headers.get('svc-cursor') ?? undefined,
      };
    },
    getNextPageParam: ({ cursor }) => cursor,
  });
