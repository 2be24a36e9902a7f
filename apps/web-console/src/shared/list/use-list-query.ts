import { useCallback, useMemo } from 'react';
import { useSearch } from 'wouter';
import { currentSearch, navigate } from '../location/hash-location.js';
import { FILTER_NAMES } from './list-filters.js';
import { parseListQuery, listQueryParams, type ListSettings } from './list-query.js';
import { AT } from './use-moment.js';
import { PEEK } from './use-peek.js';

/**
 * The list query in the address. Changes replace the address, so that the browser's Back button leaves the list instead
 * of undoing keystrokes.
 * @returns the query, and a function that changes part of it and never changes itself
 */
export function useListQuery(
  path: string,
  columns: readonly string[],
): [ListSettings, (change: Partial<ListSettings>) => void] {
  const params = new URLSearchParams(useSearch());
  const { search, filters, sort, descending } = parseListQuery(params, columns);
  // The same object while the filters are equal, so that the filter menus do not render on every keystroke.
  const key = JSON.stringify(FILTER_NAMES.map((name) => filters[name]));
  const stableFilters = useMemo(() => filters, [key]);
  const query = useMemo(
    () => ({ search, filters: stableFilters, sort, descending }),
    [search, stableFilters, sort, descending],
  );

  const change = useCallback(
    (part: Partial<ListSettings>) => {
      const params = new URLSearchParams(currentSearch());
      const next = listQueryParams({ ...parseListQuery(params, columns), ...part });
      const peeked = params.get(PEEK);
      if (peeked !== null) next.set(PEEK, peeked);
      const at = params.get(AT);
      if (at !== null) next.set(AT, at);
      const text = next.toString();
      navigate(text === '' ? path : `${path}?${text}`, { replace: true });
    },
    [path, columns],
  );
  return [query, change];
}
