import { t } from '@lingui/core/macro';
import type { JournalFilterDto } from '@headgate/api-contracts';
import { useSearch } from 'wouter';
import { spanOf } from '../../shared/activity/activity-span.js';
import { readSearchFields, useSearchFields } from '../../shared/location/use-search-fields.js';
import { useSettled } from '../../shared/ui/use-settled.js';
import { perLanguage } from '../../shared/texts/per-language.js';

const FIELDS = ['user', 'token', 'object', 'action', 'outcome'] as const;

export const outcomes = perLanguage(() => ({ ok: t`Succeeded`, error: t`Failed`, denied: t`Denied` }) as const);

/** A search in the journal reads it as a whole, so it waits until the user has typed. */
const TYPING_MS = 250;

/** The filters of the journal, which are part of its address. */
export function useJournalFilters() {
  const [fields, change] = useSearchFields(FIELDS);
  const search = useSearch();
  return { fields, change, filters: toFilters(useSettled(search, TYPING_MS, search)) };
}

function toFilters(search: string): JournalFilterDto {
  const { user, token, object, action, outcome } = readSearchFields(search, FIELDS);
  const span = spanOf(search);
  return {
    ...(user.trim() !== '' && { caller: user.trim() }),
    ...(token.trim() !== '' && { token: token.trim() }),
    ...(object.trim() !== '' && { ref: object.trim() }),
    ...(action.trim() !== '' && { action: action.trim() }),
    ...(isOutcome(outcome) && { outcome }),
    ...(span && { since: new Date(span.from).toISOString(), until: new Date(span.to).toISOString() }),
  };
}

const isOutcome = (text: string): text is keyof ReturnType<typeof outcomes> => Object.hasOwn(outcomes(), text);
