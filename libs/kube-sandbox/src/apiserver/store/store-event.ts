import type { KubeObject } from '../kube-object.js';

/** One committed change. Objects in it are immutable and in the storage version. */
export interface StoreEvent<T extends KubeObject = KubeObject> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** `pods`, `virtualmachines.kubevirt.io` */
  resource: string;
  /** The new state; for DELETED the last one, with the revision of the deletion. */
  object: T;
  /** State before the change; absent for ADDED. */
  previous?: T;
  revision: number;
}

export type StoreListener = (event: StoreEvent) => void;
