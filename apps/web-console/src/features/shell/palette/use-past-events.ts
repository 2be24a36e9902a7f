import { t } from '@lingui/core/macro';
import { useQuery } from '@tanstack/react-query';
import type { JournalEntryView } from '@headgate/api-contracts';
import { useMemo } from 'react';
import { getJson } from '../../../shared/api/request.js';
import { nameOfRef } from '../../../shared/bulk/bulk-report.js';
import type { Instance } from '../../../shared/instances/instance.js';
import { pathOfRef, paths } from '../../../shared/location/paths.js';
import { useWhoami } from '../../../shared/queries/use-whoami.js';
import { formatLocale } from '../../../shared/texts/formats.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { useSettled } from '../../../shared/ui/use-settled.js';
import { eventQuery } from './event-query.js';
import type { PaletteOption } from './palette-option.js';

/** A search in the journal reads it as a whole, so it waits until the user has typed. */
const TYPING_MS = 250;
const MOST_EVENTS = 8;

const NONE: readonly PaletteOption[] = [];

const moments = perLanguage(() => new Intl.DateTimeFormat(formatLocale(), { dateStyle: 'medium', timeStyle: 'short' }));

/**
 * The latest entries of the journal that a text means, once they are loaded. They are never those of an earlier text,
 * and nothing waits for them. Callers who may not read the journal have none: a refused request would be an entry.
 */
export function usePastEvents(
  text: string,
  entries: readonly Instance[],
  navigate: (path: string) => void,
): readonly PaletteOption[] {
  const { data: whoami } = useWhoami();
  const settled = useSettled(text, TYPING_MS, '');
  // The fleet changes often. Only the text decides when the journal is searched.
  const query = useMemo(() => eventQuery(settled, entries), [settled]);
  const { data } = useQuery({
    queryKey: ['palette events', query],
    queryFn: ({ signal }) => getJson('/api/ext/journal', { query: { ...query, limit: MOST_EVENTS }, signal }),
    enabled: query !== undefined && whoami !== undefined && whoami.roles === undefined,
  });
  const found = settled === text && query !== undefined ? data : undefined;
  return useMemo(() => {
    if (!found) return NONE;
    const present = new Set(entries.map(({ ref }) => ref));
    return found.map((entry) => eventOption(entry, present, navigate));
  }, [found, entries, navigate]);
}

/** Opens the machine, or the journal of an object that has no page or does not exist any more. */
function eventOption(
  { number, action, ref, caller, time, outcome }: JournalEntryView,
  present: ReadonlySet<string>,
  navigate: (path: string) => void,
): PaletteOption {
  const object = /^(vm|ct)\//.test(ref) ? nameOfRef(ref) : ref;
  const path = present.has(ref) ? pathOfRef(ref) : `${paths.journal}?${new URLSearchParams({ object: ref, action })}`;
  const at = moments().format(new Date(time));
  const who = caller === '' ? t`no identity` : caller;
  return {
    key: `event ${number}`,
    label: [action, object].filter(Boolean).join(' '),
    isData: true,
    icon: outcome === 'ok' ? 'activity' : 'error',
    detail: t`${who}, ${at}`,
    choose: () => navigate(path),
  };
}
