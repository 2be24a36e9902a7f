import { useQueryClient } from '@tanstack/react-query';
import type { ContainerView, VmView } from '@headgate/api-contracts';
import { createContext, use, useCallback, useEffect, useState, useSyncExternalStore, type ReactNode } from 'react';
import type { InstanceAddress } from '../api/instance-path.js';
import { StreamQueries } from '../queries/stream-queries.js';
import { loadFirstRows } from './first-rows.js';
import type { FleetState, FleetStore } from './fleet-store.js';
import { PageStore } from './page-store.js';
import { SharedFeed } from './shared-feed.js';
import type { FleetEntry } from './sorted-entries.js';

interface Page {
  readonly store: PageStore;
  readonly feed: SharedFeed;
}

const PageContext = createContext<Page | undefined>(undefined);

/** Provides what the service keeps up to date to the whole page, whose stream is open as long as the page is. */
export function FleetProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const [page] = useState<Page>(() => {
    const store = new PageStore(new StreamQueries(queries));
    return { store, feed: new SharedFeed(store) };
  });
  useEffect(() => {
    void loadFirstRows(page.store.lists.vms, '/api/vms');
    page.feed.start();
    return () => page.feed.stop();
  }, [page]);
  return <PageContext value={page}>{children}</PageContext>;
}

function usePage(): Page {
  const page = use(PageContext);
  if (!page) throw new Error('useFleet is called outside of FleetProvider.');
  return page;
}

const useLists = (): PageStore['lists'] => usePage().store.lists;

const useStore = <E extends FleetEntry, T>(store: FleetStore<E>, select: (state: FleetState<E>) => T): T =>
  useSyncExternalStore(store.subscribe, () => select(store.current()));

/** Selects part of the VM fleet. The component renders again only when that part changes. */
export const useFleet = <T,>(select: (state: FleetState<VmView>) => T): T => useStore(useLists().vms, select);

/** One VM, kept up to date; undefined when the fleet does not contain it. */
export const useVm = (address: InstanceAddress): VmView | undefined =>
  useFleet(({ entries }) => entryAt(entries, address));

/** The VM with a ref, kept up to date. */
export const useVmByRef = (ref: string | undefined): VmView | undefined =>
  useFleet(({ entries }) => (ref === undefined ? undefined : entries.find((entry) => entry.ref === ref)));

/** The container with a ref, kept up to date. */
export const useContainerByRef = (ref: string | undefined): ContainerView | undefined =>
  useContainers(({ entries }) => (ref === undefined ? undefined : entries.find((entry) => entry.ref === ref)));

/** Selects part of the list of containers, as `useFleet` does of that of VMs. */
export const useContainers = <T,>(select: (state: FleetState<ContainerView>) => T): T =>
  useStore(useLists().cts, select);

export function useRetryFleet(): () => void {
  const { feed } = usePage();
  return useCallback(() => feed.retryNow(), [feed]);
}

export const entryAt = <E extends FleetEntry>(
  entries: readonly E[],
  { context, namespace, name }: InstanceAddress,
): E | undefined =>
  entries.find((entry) => entry.name === name && entry.namespace === namespace && entry.context === context);
