import { useQueryClient } from '@tanstack/react-query';
import type { JournalEntryView, JournalFilterDto } from '@headgate/api-contracts';
import { useEffect } from 'react';

/** New entries are read together: a bulk action records hundreds of them. */
const READ_AFTER_MS = 1_000;
const RETRY_MS = 10_000;

/** Reads the journal again when entries that match are recorded. A span that ends has no new ones. */
export function useFollowedJournal(filters: JournalFilterDto): void {
  const client = useQueryClient();
  const key = JSON.stringify(filters);
  useEffect(() => {
    const wanted = JSON.parse(key) as JournalFilterDto;
    if (wanted.until !== undefined) return;
    let source: EventSource | undefined;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let reading: ReturnType<typeof setTimeout> | undefined;
    let position = '';

    const read = (): void => {
      reading ??= setTimeout(() => {
        reading = undefined;
        // The list and the numbers.
        void client.invalidateQueries({ queryKey: ['journal'] });
      }, READ_AFTER_MS);
    };
    const open = (): void => {
      // A new EventSource can't send the header Last-Event-ID, so the position is in the query.
      const opened = new EventSource(
        `/api/ext/journal/stream${position === '' ? '' : `?lastEventId=${encodeURIComponent(position)}`}`,
      );
      source = opened;
      const remember = (event: Event): void => {
        const { lastEventId } = event as MessageEvent<string>;
        if (lastEventId !== '') position = lastEventId;
      };
      opened.addEventListener('ready', remember);
      opened.addEventListener('gap', read);
      opened.addEventListener('entry', (event) => {
        remember(event);
        if (matches(JSON.parse((event as MessageEvent<string>).data) as JournalEntryView, wanted)) read();
      });
      opened.onerror = () => {
        if (source !== opened) return;
        opened.close();
        // Shows why, if the user may no longer read it.
        read();
        retry = setTimeout(open, RETRY_MS);
      };
    };
    open();
    return () => {
      clearTimeout(retry);
      clearTimeout(reading);
      source?.close();
      source = undefined;
    };
  }, [client, key]);
}

/** As the service compares them. */
const matches = (entry: JournalEntryView, { caller, token, ref, outcome, action, since }: JournalFilterDto): boolean =>
  (caller === undefined || entry.caller === caller) &&
  (token === undefined || entry.token === token) &&
  (ref === undefined || entry.ref === ref) &&
  (outcome === undefined || entry.outcome === outcome) &&
  (action === undefined || entry.action.toLowerCase().includes(action.toLowerCase())) &&
  (since === undefined || entry.time >= since);
