/** A storage that several replicas use. */
export interface SharedStoreHarness<Store> {
  /** The store as another replica sees it. */
  join(replica: string): Promise<Store>;
  close(): void | Promise<void>;
}

interface Watchable {
  subscribe(listener: () => void): () => void;
}

/** Waits until a replica sees what another one has written. */
export function untilSeen(store: Watchable, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = (): void => {
      if (!holds()) return;
      unsubscribe();
      resolve();
    };
    const unsubscribe = store.subscribe(check);
    check();
  });
}
