import type { Clock, DomainError } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import type { KubeObject } from '../api/kube-object.js';
import type { Resource } from '../api/resources.js';
import type { Reachability } from './reachability.js';

/** Takes what a watch sees. Keeps what it needs and lets go of the object. */
export interface KindSink<T extends KubeObject> {
  upsert(object: T): void;
  /** @param key `namespace/name` */
  remove(key: string): void;
  /** Every key that it keeps: those that a new list does not have are removed. */
  keys(): Iterable<string>;
}

/** How far a watch is. */
export type KindState =
  /** Listed, and following. */
  | { readonly state: 'following' }
  /** There is nothing to follow: the API is not served, or the account may not read it. */
  | { readonly state: 'absent'; readonly error: DomainError }
  /** It was cut off, and is trying again. */
  | { readonly state: 'broken'; readonly error: DomainError };

export interface KindWatchSettings<T extends KubeObject> {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly reachability: Reachability;
  readonly resource: Resource;
  /** Absent: the whole cluster. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly sink: KindSink<T>;
  readonly onState?: (state: KindState) => void;
  readonly random?: () => number;
}
