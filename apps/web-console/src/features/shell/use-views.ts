import type { SavedViewView } from '@headgate/api-contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useLocation, useSearch } from 'wouter';
import { paths } from '../../shared/location/paths.js';
import { recall, remember } from '../../shared/storage/remembered.js';
import { useTakenOverViews } from './use-taken-over-views.js';
import { deleteView, readViews, saveView, updateView } from './view-requests.js';

/** A list as the user left it. */
export type SavedView = SavedViewView;

const KEY = ['views'];
/** Only a window that gets the focus after this time asks again. */
const FRESH_MS = 30_000;
const NONE: readonly SavedView[] = [];

/** The collection of each list, which names the storage of its columns. */
const COLLECTIONS: Readonly<Record<string, string>> = { [paths.fleet]: 'vms', [paths.containers]: 'cts' };

const columnsStore = (path: string): string => `columns-${COLLECTIONS[path]}`;

/** The saved views of the user, which the service keeps. */
export function useViews() {
  const queries = useQueryClient();
  const query = useQuery({ queryKey: KEY, queryFn: ({ signal }) => readViews(signal), staleTime: FRESH_MS });
  const refresh = useCallback(() => void queries.invalidateQueries({ queryKey: KEY }), [queries]);
  useTakenOverViews(query.data, refresh);
  const change = useMutation({ mutationFn: (send: () => Promise<unknown>) => send(), onSettled: refresh });
  const views = query.data ?? NONE;
  const [path] = useLocation();
  const search = useSearch();
  const isList = path in COLLECTIONS;
  const inAddress = new URLSearchParams(search);
  inAddress.delete('create');
  const address = inAddress.size === 0 ? path : `${path}?${inAddress}`;

  /** Chooses the columns of a view. The link leads to its address. */
  const open = useCallback(({ address: target, columns }: SavedView): void => {
    remember(columnsStore(target.split('?', 1)[0] ?? ''), columns);
  }, []);

  return {
    views,
    isLoaded: query.isSuccess,
    /** Why the views could not be read or changed. */
    error: query.error ?? change.error,
    open,
    /** The address of the list on the page; undefined on other pages. */
    address: isList ? address : undefined,
    /** Saves the list on the page. A view with the same name is replaced. */
    save: (name: string): void => {
      const columns = recall<string[] | null>(columnsStore(path), null);
      const known = views.find((one) => one.name === name);
      change.mutate(() => (known ? updateView(known.id, { address, columns }) : saveView({ name, address, columns })));
    },
    rename: ({ id }: SavedView, name: string): void => change.mutate(() => updateView(id, { name })),
    /** @param by -1 is up, 1 is down */
    move: (view: SavedView, by: -1 | 1): void =>
      change.mutate(() => updateView(view.id, { position: Math.max(0, views.indexOf(view) + by) })),
    remove: ({ id }: SavedView): void => change.mutate(() => deleteView(id)),
  };
}
