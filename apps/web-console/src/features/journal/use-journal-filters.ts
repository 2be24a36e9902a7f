import type { JournalFilterDto } from '@headgate/api-contracts';
import { useDeferredValue } from 'react';
import { useActivitySelection } from '../../shared/activity/activity-span.js';
import { useSearchFields } from '../../shared/location/use-search-fields.js';

const FIELDS = ['user', 'token', 'object', 'action', 'outcome'] as const;

export const OUTCOMES = { ok: 'Succeeded', error: 'Failed', denied: 'Denied' } as const;

/** The filters of the journal, which are part of its address. */
export function useJournalFilters() {
  const [fields, change] = useSearchFields(FIELDS);
  const { span } = useActivitySelection();
  const words = useDeferredValue(
    [fields.user, fields.token, fields.object, fields.action, fields.outcome].map((text) => text.trim()).join('\n'),
  );
  const [user = '', token = '', object = '', action = '', outcome = ''] = words.split('\n');
  const filters: JournalFilterDto = {
    ...(user !== '' && { caller: user }),
    ...(token !== '' && { token }),
    ...(object !== '' && { ref: object }),
    ...(action !== '' && { action }),
    ...(isOutcome(outcome) && { outcome }),
    ...(span && { since: new Date(span.from).toISOString(), until: new Date(span.to).toISOString() }),
  };
  return { fields, change, filters };
}

const isOutcome = (text: string): text is keyof typeof OUTCOMES => Object.hasOwn(OUTCOMES, text);
