import { useDeferredValue, useMemo } from 'react';
import type { Instance } from '../instances/instance.js';
import type { ListKind } from './list-kind.js';
import type { ListPlace } from './list-place.js';
import { filterEntries, sortEntries } from './list-view.js';

interface Rows<E> {
  /** All entries, as far as the list has followed. */
  readonly entries: readonly E[];
  /** Those that are shown, in their order. */
  readonly rows: readonly E[];
  /** What they were chosen by. */
  readonly place: ListPlace;
}

/** Typing and scrolling go first; the list follows the address and the fleet as soon as there is time. */
export function useRows<E extends Instance>(kind: ListKind<E>, known: readonly E[], asked: ListPlace): Rows<E> {
  const followed = useDeferredValue(known);
  const entries = followed.length === 0 ? known : followed;
  const place = useDeferredValue(asked);
  const { search, filters, sort, descending } = place;
  const found = useMemo(() => filterEntries(entries, { search, filters }), [entries, search, filters]);
  const rows = useMemo(() => {
    const order = kind.columns[sort]?.order;
    // In this order they come.
    return !order || (sort === 'name' && !descending) ? found : sortEntries(found, order, descending);
  }, [found, kind, sort, descending]);
  return { entries, rows, place };
}
