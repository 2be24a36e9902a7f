import type { JournalFilterDto } from '@headgate/api-contracts';
import type { JournalQuery } from '@headgate/domain-contracts';

/** The filters of a request, with times in the form of the entries. */
export const toJournalFilters = ({ since, until, ...filters }: JournalFilterDto): Omit<JournalQuery, 'limit'> => ({
  ...filters,
  ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
  ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
});
