import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { JournalEntryView, JournalFilterDto } from '@headgate/api-contracts';
import { getJson, getResponse } from '../../../shared/api/request.js';

interface JournalPage {
  readonly entries: readonly JournalEntryView[];
  /** Leads to the older entries. */
  readonly cursor: string | undefined;
}

const PAGE_ENTRIES = 100;

/** The journal, the newest entries first; older ones are loaded on request. */
export const useJournal = (filters: JournalFilterDto) =>
  useInfiniteQuery({
    queryKey: ['journal', filters],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ signal, pageParam }): Promise<JournalPage> => {
      const query = { ...filters, cursor: pageParam, limit: PAGE_ENTRIES };
      const response = await getResponse('/api/ext/journal', { query, signal });
      return {
        entries: (await response.json()) as JournalEntryView[],
        cursor: response.headers.get('svc-cursor') ?? undefined,
      };
    },
    getNextPageParam: ({ cursor }) => cursor,
  });

/** How many entries match, and of which callers. */
export const useJournalSummary = (filters: JournalFilterDto) =>
  useQuery({
    queryKey: ['journal', 'summary', filters],
    queryFn: ({ signal }) => getJson('/api/ext/journal/summary', { query: { ...filters }, signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
