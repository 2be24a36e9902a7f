import { byText, countable } from '../names/countable.js';
import { statusOf, type Instance } from '../instances/instance.js';
import { filterTest } from './list-filters.js';
import type { ListPlace } from './list-place.js';

/** What rows are ordered by: numbers by size, texts as people count (web-2 before web-10). */
export type Order<E> = (entry: E) => string | number;

/** What a search looks through. Entries are replaced, never changed, so the text is made once per entry. */
const searchable = new WeakMap<Instance, string>();

function textOf(entry: Instance): string {
  let text = searchable.get(entry);
  if (text === undefined) {
    const own = 'image' in entry ? entry.image : entry.ip;
    text = [entry.name, entry.namespace, statusOf(entry), entry.context, entry.node, own, ...entry.tags]
      .join('\n')
      .toLowerCase();
    searchable.set(entry, text);
  }
  return text;
}

/** The entries that match the search (all words, anywhere) and every filter, in the order that they came in. */
export function filterEntries<E extends Instance>(
  entries: readonly E[],
  { search, filters }: Pick<ListPlace, 'search' | 'filters'>,
): readonly E[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = filterTest(filters);
  if (words.length === 0 && !matches) return entries;
  return entries.filter(
    (entry) =>
      (matches?.(entry) ?? true) && (words.length === 0 || words.every((word) => textOf(entry).includes(word))),
  );
}

/** Empty values come last in either direction; equals stay in the order that they came in. */
export function sortEntries<E>(entries: readonly E[], order: Order<E>, descending: boolean): E[] {
  const filled: { readonly entry: E; readonly key: string | number }[] = [];
  const empty: E[] = [];
  for (const entry of entries) {
    const key = order(entry);
    if (key === '') empty.push(entry);
    else filled.push({ entry, key: typeof key === 'number' ? key : countable(key) });
  }
  const direction = descending ? -1 : 1;
  filled.sort(({ key: a }, { key: b }) =>
    typeof a === 'number' && typeof b === 'number' ? direction * (a - b) : direction * byText(String(a), String(b)),
  );
  return [...filled.map(({ entry }) => entry), ...empty];
}

/** Whether entries carry at least so many different values; looks no further than it must. */
export function severalValues<E>(
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

/** How many entries carry each value, the most frequent first. */
export function tally(values: Iterable<string>): readonly { readonly value: string; readonly count: number }[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || byText(countable(a.value), countable(b.value)));
}
