import type { VmView } from '@headgate/api-contracts';
import { createContext, use, useEffect, useState, useSyncExternalStore, type ReactNode } from 'react';
import type { InstanceAddress } from '../api/instance-path.js';
import { FleetFeed } from './fleet-feed.js';
import { FleetStore, type FleetState } from './fleet-store.js';

interface Fleet {
  readonly store: FleetStore;
  readonly feed: FleetFeed;
}

const FleetContext = createContext<Fleet | undefined>(undefined);

function openFleet(): Fleet {
  const store = new FleetStore();
  return { store, feed: new FleetFeed(store) };
}

/** One stream for the whole page, as long as the page is open. */
export function FleetProvider({ children }: { children: ReactNode }) {
  const [fleet] = useState(openFleet);
  useEffect(() => {
    fleet.feed.open();
    return () => fleet.feed.close();
  }, [fleet]);
  return <FleetContext value={fleet}>{children}</FleetContext>;
}

function useFleetContext(): Fleet {
  const fleet = use(FleetContext);
  if (!fleet) throw new Error('useFleet is called outside of FleetProvider.');
  return fleet;
}

export function useFleet(): FleetState {
  const { store } = useFleetContext();
  return useSyncExternalStore(store.subscribe, store.current);
}

export const useRetryFleet = (): (() => void) => {
  const { feed } = useFleetContext();
  return () => feed.retryNow();
};

/** One instance, kept up to date; undefined when the fleet has no such one. */
export function useVm({ context, namespace, name }: InstanceAddress): VmView | undefined {
  return useFleet().entries.find(
    (entry) => entry.name === name && entry.namespace === namespace && entry.context === context,
  );
}
