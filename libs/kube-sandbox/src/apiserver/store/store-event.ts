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
