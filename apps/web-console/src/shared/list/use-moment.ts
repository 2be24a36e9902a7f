import { useCallback } from 'react';
import { useSearch } from 'wouter';
import { currentSearch, navigate } from '../location/hash-location.js';

/** The parameter of the address with the moment of the past that a list shows, in ISO 8601. */
export const AT = 'at';

/**
 * The moment that a list shows. It is part of the address; another moment replaces the address.
 * @returns the moment, or undefined for now, and a function that never changes itself
 */
export function useMoment(path: string): [string | undefined, (at: string | undefined) => void] {
  const at = new URLSearchParams(useSearch()).get(AT) ?? undefined;
  const change = useCallback(
    (next: string | undefined) => {
      const params = new URLSearchParams(currentSearch());
      const isPast = params.has(AT);
      params.delete(AT);
      if (next !== undefined) params.set(AT, next);
      // The Back button leaves the past at once, not one moment after another.
      navigate(params.size === 0 ? path : `${path}?${params}`, { replace: isPast });
    },
    [path],
  );
  return [at, change];
}
