import { useLocation, useSearch } from 'wouter';
import { currentSearch, navigate } from './hash-location.js';

/**
 * Fields of a page that are part of its address, so that a link or a reload shows the same; empty texts are absent.
 * Other parameters of the address stay.
 */
export function useSearchFields<N extends string>(
  names: readonly N[],
): [Readonly<Record<N, string>>, (changed: Partial<Record<N, string>>) => void] {
  const [path] = useLocation();
  const fields = readSearchFields(useSearch(), names);
  const change = (changed: Partial<Record<N, string>>): void => {
    const next = new URLSearchParams(currentSearch());
    for (const [name, value] of Object.entries<string | undefined>(changed)) {
      next.delete(name);
      if (value) next.set(name, value);
    }
    navigate(next.size === 0 ? path : `${path}?${next}`, { replace: true });
  };
  return [fields, change];
}

/** The fields of an address. @param search the part after its `?` */
export function readSearchFields<N extends string>(search: string, names: readonly N[]): Readonly<Record<N, string>> {
  const params = new URLSearchParams(search);
  return Object.fromEntries(names.map((name) => [name, params.get(name) ?? ''])) as Record<N, string>;
}
