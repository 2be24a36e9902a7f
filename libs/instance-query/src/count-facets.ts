import { compileQuery } from './compile-query.js';
import type { EntryReader, Predicate } from './entry-reader.js';
import type { TextField } from './fields.js';
import type { Query } from './query.js';

/** A value of a field and the number of entries that have it, at least 1. */
export interface FacetCount {
  readonly value: string;
  readonly count: number;
}

export interface Facets<F extends TextField> {
  /** The number of entries that match the whole query. */
  readonly matched: number;
  /** The most frequent value first, those with equal counts by value. */
  readonly counts: Readonly<Record<F, readonly FacetCount[]>>;
}

/**
 * Counts the values of the entries that match a query. The terms that choose values of a field do not limit the counts
 * of that field, so that they are the numbers of rows that another choice would show. Tags are the exception: an entry
 * has several, and a second `tag:` narrows the list, so their counts are those of the matching entries.
 */
export function countFacets<E, const F extends TextField>(
  { terms }: Query,
  entries: Iterable<E>,
  reader: EntryReader<E>,
  fields: readonly F[],
): Facets<F> {
  const tallies = new Map(fields.map((field) => [field, new Map<string, number>()]));
  const own = new Map<F, Predicate<E>>();
  let others = terms;
  for (const field of fields) {
    const isOwn = (term: (typeof terms)[number]): boolean =>
      term.type === 'text' && term.field === field && !term.negated && field !== 'tag';
    if (terms.some(isOwn)) own.set(field, compileQuery({ terms: terms.filter(isOwn) }, reader));
    others = others.filter((term) => !isOwn(term));
  }
  const matchesOthers = compileQuery({ terms: others }, reader);
  let matched = 0;
  for (const entry of entries) {
    if (!matchesOthers(entry)) continue;
    const failed = [...own].filter(([, test]) => !test(entry)).map(([field]) => field);
    if (failed.length === 0) matched++;
    for (const [field, tally] of tallies)
      if (failed.every((one) => one === field))
        for (const value of reader.texts[field](entry)) tally.set(value, (tally.get(value) ?? 0) + 1);
  }
  return { matched, counts: Object.fromEntries([...tallies].map(([field, tally]) => [field, sorted(tally)])) as never };
}

const sorted = (tally: ReadonlyMap<string, number>): FacetCount[] =>
  [...tally]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
