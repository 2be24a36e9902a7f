import type { KubeObject, ObjectKey } from '../kube-object.js';

/** The address of an object: resource and key. */
export interface ObjectAddress extends ObjectKey {
  resource: string;
}

/** Finds objects by uid, and the dependents of an owner by the owner's uid. */
export class OwnerIndex {
  private readonly addresses = new Map<string, ObjectAddress>();
  private readonly dependents = new Map<string, Map<string, ObjectAddress>>();

  addressOf(uid: string): ObjectAddress | undefined {
    return this.addresses.get(uid);
  }

  dependentsOf(uid: string): ObjectAddress[] {
    return [...(this.dependents.get(uid)?.values() ?? [])];
  }

  change(resource: string, previous: KubeObject | undefined, next: KubeObject | undefined): void {
    const before = previous?.metadata.ownerReferences;
    const after = next?.metadata.ownerReferences;
    const uid = (next ?? previous)?.metadata.uid ?? '';
    if (!next) this.addresses.delete(uid);
    else if (!previous)
      this.addresses.set(uid, { resource, namespace: next.metadata.namespace, name: next.metadata.name });
    if (before === after) return;
    for (const owner of before ?? []) this.remove(owner.uid, uid);
    const address = this.addresses.get(uid);
    if (address) for (const owner of after ?? []) this.add(owner.uid, uid, address);
  }

  /** Adds an object that is not built yet. */
  addUnbuilt(uid: string, owners: readonly string[], address: ObjectAddress): void {
    this.addresses.set(uid, address);
    for (const owner of owners) this.add(owner, uid, address);
  }

  private add(owner: string, uid: string, address: ObjectAddress): void {
    let dependents = this.dependents.get(owner);
    if (!dependents) this.dependents.set(owner, (dependents = new Map()));
    dependents.set(uid, address);
  }

  private remove(owner: string, uid: string): void {
    const dependents = this.dependents.get(owner);
    dependents?.delete(uid);
    if (dependents?.size === 0) this.dependents.delete(owner);
  }
}
