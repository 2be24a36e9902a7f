import { useCallback } from 'react';
import { useSearch } from 'wouter';
import { currentSearch, navigate } from '../location/hash-location.js';

/** The parameter of the address with the ref of the instance that is peeked at. */
export const PEEK = 'peek';

/**
 * The instance that is peeked at. It is part of the address; walking through the list replaces the address.
 * @returns its ref, and a function that never changes itself; undefined closes the peek
 */
export function usePeek(path: string): [string | undefined, (ref: string | undefined) => void] {
  const ref = new URLSearchParams(useSearch()).get(PEEK) ?? undefined;
  const peek = useCallback(
    (next: string | undefined) => {
      const params = new URLSearchParams(currentSearch());
      if ((params.get(PEEK) ?? undefined) === next) return;
      params.delete(PEEK);
      if (next !== undefined) params.set(PEEK, next);
      navigate(params.size === 0 ? path : `${path}?${params}`, { replace: true });
    },
    [path],
  );
  return [ref, peek];
}
