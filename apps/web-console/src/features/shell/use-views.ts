import { useCallback } from 'react';
import { useLocation, useSearch } from 'wouter';
import { paths } from '../../shared/location/paths.js';
import { recall, remember, useRemembered } from '../../shared/storage/remembered.js';

/** A list as the user left it. */
export interface SavedView {
  readonly name: string;
  /** The path of the list with its query, filters, and order. */
  readonly address: string;
  /** The chosen columns; null for as many as fit. */
  readonly columns: readonly string[] | null;
}

const STORE = 'views';
const NONE: readonly SavedView[] = [];

/** The collection of each list, which names the storage of its columns. */
const COLLECTIONS: Readonly<Record<string, string>> = { [paths.fleet]: 'vms', [paths.containers]: 'cts' };

const columnsStore = (path: string): string => `columns-${COLLECTIONS[path]}`;

/** The saved views, which are stored in this browser. */
export function useViews() {
  const [views, setViews] = useRemembered(STORE, NONE);
  const [path] = useLocation();
  const search = useSearch();
  const isList = path in COLLECTIONS;
  const query = new URLSearchParams(search);
  query.delete('create');
  const address = query.size === 0 ? path : `${path}?${query}`;

  /** Chooses the columns of a view. The link leads to its address. */
  const open = useCallback(({ address: target, columns }: SavedView): void => {
    remember(columnsStore(target.split('?', 1)[0] ?? ''), columns);
  }, []);

  return {
    views,
    open,
    /** The address of the list on the page; undefined on other pages. */
    address: isList ? address : undefined,
    /** Saves the list on the page. A view with the same name is replaced. */
    save: (name: string): void => {
      const view = { name, address, columns: recall<readonly string[] | null>(columnsStore(path), null) };
      setViews(sorted([...views.filter((one) => one.name !== name), view]));
    },
    rename: (from: string, to: string): void =>
      setViews(sorted(views.map((view) => (view.name === from ? { ...view, name: to } : view)))),
    remove: (name: string): void => setViews(views.filter((view) => view.name !== name)),
  };
}

const sorted = (views: readonly SavedView[]): SavedView[] =>
  views.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
