import type { ContainerView, VmView } from '@headgate/api-contracts';
import { createContext, use, useCallback, useEffect, useState, useSyncExternalStore, type ReactNode } from 'react';
import type { InstanceAddress, InstanceCollection } from '../api/instance-path.js';
import { loadFirstRows } from './first-rows.js';
import { FleetStore, type FleetState } from './fleet-store.js';
import { SharedFeed } from './shared-feed.js';
import type { FleetEntry } from './sorted-entries.js';

interface EntryOf {
  readonly vms: VmView;
  readonly cts: ContainerView;
}

interface Fleet<E extends FleetEntry> {
  readonly store: FleetStore<E>;
  readonly feed: SharedFeed<E>;
}

type Fleets = { readonly [C in InstanceCollection]: Fleet<EntryOf[C]> };

const FleetContext = createContext<Fleets | undefined>(undefined);

function openFleet<E extends FleetEntry>(path: string): Fleet<E> {
  const store = new FleetStore<E>();
  return { store, feed: new SharedFeed(path, store) };
}

/** Provides the fleet to the whole page. The stream of VMs is open as long as the page is. */
export function FleetProvider({ children }: { children: ReactNode }) {
  const [fleets] = useState<Fleets>(() => ({ vms: openFleet('/api/vms'), cts: openFleet('/api/cts') }));
  useEffect(() => {
    void loadFirstRows(fleets.vms.store, '/api/vms');
    fleets.vms.feed.start();
    return () => fleets.vms.feed.stop();
  }, [fleets]);
  return <FleetContext value={fleets}>{children}</FleetContext>;
}

function useFleets(): Fleets {
  const fleets = use(FleetContext);
  if (!fleets) throw new Error('useFleet is called outside of FleetProvider.');
  return fleets;
}

const useStore = <E extends FleetEntry, T>(store: FleetStore<E>, select: (state: FleetState<E>) => T): T =>
  useSyncExternalStore(store.subscribe, () => select(store.current()));

/** Selects part of the VM fleet. The component renders again only when that part changes. */
export const useFleet = <T,>(select: (state: FleetState<VmView>) => T): T => useStore(useFleets().vms.store, select);

/** One VM, kept up to date; undefined when the fleet does not contain it. */
export const useVm = (address: InstanceAddress): VmView | undefined =>
  useFleet(({ entries }) => entryAt(entries, address));

/** The VM with a ref, kept up to date. */
export const useVmByRef = (ref: string | undefined): VmView | undefined =>
  useFleet(({ entries }) => (ref === undefined ? undefined : entries.find((entry) => entry.ref === ref)));

/** The container with a ref, as long as a page shows the containers. */
export const useContainerByRef = (ref: string | undefined): ContainerView | undefined =>
  useStore(useFleets().cts.store, ({ entries }) =>
    ref === undefined ? undefined : entries.find((entry) => entry.ref === ref),
  );

/** The containers. Their stream is open only while a page needs it. */
export function useContainers(): FleetState<ContainerView> {
  const { store, feed } = useFleets().cts;
  useEffect(() => {
    feed.start();
    return () => feed.stop();
  }, [feed]);
  return useStore(store, (state) => state);
}

export function useRetryFleet(collection: InstanceCollection = 'vms'): () => void {
  const { feed } = useFleets()[collection];
  return useCallback(() => feed.retryNow(), [feed]);
}

export const entryAt = <E extends FleetEntry>(
  entries: readonly E[],
  { context, namespace, name }: InstanceAddress,
): E | undefined =>
  entries.find((entry) => entry.name === name && entry.namespace === namespace && entry.context === context);
