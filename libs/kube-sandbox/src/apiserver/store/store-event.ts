import type { KubeObject } from '../kube-object.js';

/** One committed change. Its objects are immutable and in the storage version. */
export interface StoreEvent<T extends KubeObject = KubeObject> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** `pods`, `deployments.apps` */
  resource: string;
  /** The new state; for DELETED, the last state with the revision of the deletion. */
  object: T;
  /** The state before the change; undefined for ADDED. */
  previous?: T;
  revision: number;
}

export type StoreListener = (event: StoreEvent) => void;

export interface SubscribeOptions {
  /**
   * When the listener receives objects that were loaded at rest (`ObjectStore.loadAtRest`): at the load, as for any
   * object, or once they are built, for an index that has no use for an object before anyone reads it, or never.
   * Default: at the load.
   */
  atRest?: 'at-load' | 'when-built' | 'never';
}
