import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { readPlace, writePlace, type ListPlace } from './list-place.js';

/** Typing and filtering replace the address, so that «back» leaves the list instead of un-typing it. */
export function useListPlace(
  path: string,
  columns: readonly string[],
): [ListPlace, (change: Partial<ListPlace>) => void] {
  const search = useSearch();
  const [, navigate] = useLocation();
  const place = useMemo(() => readPlace(new URLSearchParams(search), columns), [search, columns]);
  const change = useCallback(
    (part: Partial<ListPlace>) => {
      const query = writePlace({ ...place, ...part }).toString();
      navigate(query === '' ? path : `${path}?${query}`, { replace: true });
    },
    [place, navigate, path],
  );
  return [place, change];
}
