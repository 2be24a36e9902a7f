import { useCallback, useMemo } from 'react';
import { useSearch } from 'wouter';
import { currentSearch, navigate } from '../location/hash-location.js';
import { FILTER_NAMES } from './list-filters.js';
import { readPlace, writePlace, type ListPlace } from './list-place.js';

/**
 * What of a list is looked at, as the address says. Typing and filtering replace the address, so that «back» leaves the list
 * instead of un-typing it.
 * @returns the place, and a function that changes part of it and is always the same
 */
export function useListPlace(
  path: string,
  columns: readonly string[],
): [ListPlace, (change: Partial<ListPlace>) => void] {
  const query = new URLSearchParams(useSearch());
  const { search, filters, sort, descending } = readPlace(query, columns);
  // The same object as long as it says the same, so that who shows the filters is not drawn again while somebody types.
  const said = JSON.stringify(FILTER_NAMES.map((name) => filters[name]));
  const kept = useMemo(() => filters, [said]);
  const place = useMemo(() => ({ search, filters: kept, sort, descending }), [search, kept, sort, descending]);

  const change = useCallback(
    (part: Partial<ListPlace>) => {
      const current = readPlace(new URLSearchParams(currentSearch()), columns);
      const text = writePlace({ ...current, ...part }).toString();
      navigate(text === '' ? path : `${path}?${text}`, { replace: true });
    },
    [path, columns],
  );
  return [place, change];
}
