import type { JournalEntryView } from '@headgate/api-contracts';
import type { ChainedJournalEntry } from '@headgate/domain-contracts';
import { STATUS } from '../platform/error-status.js';

/** An entry as the API lists it. */
export const presentEntry = ({ links, ...entry }: ChainedJournalEntry): JournalEntryView => ({
  ...entry,
  status: entry.status ?? statusOf(entry.code),
  ...(links && { hash: links.hash }),
});

/** Operations that run in the background fail with a code, but after the response. */
const statusOf = (code: string): number | null =>
  Object.hasOwn(STATUS, code) ? STATUS[code as keyof typeof STATUS] : null;
