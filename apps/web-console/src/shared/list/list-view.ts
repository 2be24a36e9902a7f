import { compileQuery, type Query } from '@headgate/instance-query';
import { compareText, naturalSortKey } from '../names/natural-sort-key.js';
import type { Instance } from '../instances/instance.js';
import { filterTest, type Filters } from './list-filters.js';
import { INSTANCE_FIELDS } from './search-query.js';

/** The value that rows are sorted by: numbers by size, texts in natural order (web-2 before web-10). */
export type SortKey<E> = (entry: E) => string | number;

/** The entries that match a parsed query and every filter, in their original order. */
export function filterEntries<E extends Instance>(
  entries: readonly E[],
  { search, filters }: { readonly search: Query; readonly filters: Filters },
): readonly E[] {
  const inFilters = filterTest(filters);
  if (search.terms.length === 0 && !inFilters) return entries;
  const matches = compileQuery(search, INSTANCE_FIELDS);
  return entries.filter((entry) => (inFilters?.(entry) ?? true) && matches(entry));
}

/** A stable sort. Empty values come last in both directions. */
export function sortEntries<E>(entries: readonly E[], order: SortKey<E>, descending: boolean): E[] {
  const filled: { readonly entry: E; readonly key: string | number }[] = [];
  const empty: E[] = [];
  for (const entry of entries) {
    const key = order(entry);
    if (key === '') empty.push(entry);
    else filled.push({ entry, key: typeof key === 'number' ? key : naturalSortKey(key) });
  }
  const direction = descending ? -1 : 1;
  filled.sort(({ key: a }, { key: b }) =>
    typeof a === 'number' && typeof b === 'number'
      ? direction * (a - b)
      : direction * compareText(String(a), String(b)),
  );
  return [...filled.map(({ entry }) => entry), ...empty];
}

/** Whether the entries have at least this many different values; stops as soon as it knows. */
export function hasDistinctValues<E>(
  entries: readonly E[],
  values: (entry: E) => readonly string[],
  atLeast: number,
): boolean {
  const seen = new Set<string>();
  return entries.some((entry) => {
    for (const value of values(entry)) seen.add(value);
    return seen.size >= atLeast;
  });
}

/** The number of occurrences of each value, the most frequent first. */
export function tally(values: Iterable<string>): readonly { readonly value: string; readonly count: number }[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || compareText(naturalSortKey(a.value), naturalSortKey(b.value)));
}
