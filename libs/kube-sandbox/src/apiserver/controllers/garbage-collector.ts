import type { KubeObject } from '../kube-object.js';
import type { ObjectStore } from '../object-store.js';
import { FOREGROUND_DELETION, ORPHAN_DEPENDENTS } from '../store/deletion-plan.js';
import type { StoreEvent } from '../store/store-event.js';

/**
 * Deletes objects whose owners are gone and applies propagation policies, synchronously with the change that triggers
 * it.
 */
export class GarbageCollector {
  constructor(private readonly store: ObjectStore) {}

  /** @returns a function that stops it */
  start(): () => void {
    return this.store.subscribe('*', (event) => this.react(event), { atRest: 'never' });
  }

  private react({ type, resource, object, previous }: StoreEvent): void {
    const { uid = '', ownerReferences, deletionTimestamp, finalizers = [] } = object.metadata;
    if (type === 'DELETED') {
      this.collectDependents(uid);
      for (const owner of ownerReferences ?? []) this.releaseForeground(owner.uid);
      return;
    }
    if (ownerReferences && ownerReferences !== previous?.metadata.ownerReferences)
      this.collectIfOrphaned(resource, object);
    if (!deletionTimestamp) return;
    if (finalizers.includes(ORPHAN_DEPENDENTS)) this.orphanDependents(resource, object);
    if (finalizers.includes(FOREGROUND_DELETION)) {
      if (!previous?.metadata.finalizers?.includes(FOREGROUND_DELETION)) this.deleteDependents(uid);
      this.releaseForeground(uid);
    }
  }

  private collectDependents(uid: string): void {
    for (const address of this.store.dependentsOf(uid)) {
      const dependent = this.store.get(address.resource, address);
      if (dependent) this.collectIfOrphaned(address.resource, dependent);
    }
  }

  /** Deletes an object when none of its owners exists; otherwise removes the references to absent owners. */
  private collectIfOrphaned(resource: string, { metadata }: KubeObject): void {
    const current = this.store.get(resource, metadata);
    const owners = current?.metadata.ownerReferences ?? [];
    if (!current || current.metadata.uid !== metadata.uid || current.metadata.deletionTimestamp || owners.length === 0)
      return;
    const present = owners.filter(({ uid }) => this.store.findByUid(uid));
    if (present.length === 0) this.store.delete(resource, current.metadata);
    else if (present.length < owners.length) {
      this.store.patch(resource, current.metadata, (draft) => {
        draft.metadata.ownerReferences = present;
      });
    }
  }

  private orphanDependents(resource: string, object: KubeObject): void {
    for (const address of this.store.dependentsOf(object.metadata.uid ?? '')) {
      this.store.patch(address.resource, address, ({ metadata }) => {
        metadata.ownerReferences = metadata.ownerReferences?.filter(({ uid }) => uid !== object.metadata.uid);
        if (metadata.ownerReferences?.length === 0) delete metadata.ownerReferences;
      });
    }
    this.removeFinalizer(resource, object, ORPHAN_DEPENDENTS);
  }

  private deleteDependents(uid: string): void {
    for (const address of this.store.dependentsOf(uid)) {
      const dependent = this.store.get(address.resource, address);
      if (!dependent || dependent.metadata.deletionTimestamp) continue;
      const hasDependents = this.store.dependentsOf(dependent.metadata.uid ?? '').length > 0;
      this.store.delete(address.resource, address, { propagationPolicy: hasDependents ? 'Foreground' : 'Background' });
    }
  }

  /** Completes a foreground deletion once no dependent blocks it. */
  private releaseForeground(uid: string): void {
    const owner = this.store.findByUid(uid);
    if (!owner?.object.metadata.finalizers?.includes(FOREGROUND_DELETION)) return;
    const blocking = this.store.dependentsOf(uid).some((address) => {
      const references = this.store.get(address.resource, address)?.metadata.ownerReferences ?? [];
      return references.some((reference) => reference.uid === uid && reference.blockOwnerDeletion);
    });
    if (!blocking) this.removeFinalizer(owner.resource, owner.object, FOREGROUND_DELETION);
  }

  private removeFinalizer(resource: string, { metadata }: KubeObject, finalizer: string): void {
    if (!this.store.get(resource, metadata)) return;
    this.store.patch(resource, metadata, (draft) => {
      draft.metadata.finalizers = draft.metadata.finalizers?.filter((each) => each !== finalizer);
    });
  }
}
