import type { KubeObject, ObjectKey } from '@headgate/kube-sandbox';
import type { Volume } from '../types/virtual-machine-instance.js';
import { claimNameOf } from './volume-snapshot-statuses.js';

const idOf = (namespace = '', name: string): string => `${namespace}/${name}`;

/** The machines that use each claim, so that a change of a disk wakes its users only. */
export class VolumeUsers {
  private readonly users = new Map<string, Map<string, ObjectKey>>();
  private readonly used = new Map<string, readonly string[]>();

  note({ metadata }: KubeObject, volumes: readonly Volume[]): void {
    const { namespace, name } = metadata;
    const user = idOf(namespace, name);
    for (const claim of this.used.get(user) ?? []) {
      const users = this.users.get(claim);
      users?.delete(user);
      if (users?.size === 0) this.users.delete(claim);
    }
    const claims = volumes.flatMap((volume) => claimNameOf(volume) ?? []).map((claim) => idOf(namespace, claim));
    if (claims.length === 0) this.used.delete(user);
    else this.used.set(user, claims);
    for (const claim of claims) {
      const users = this.users.get(claim) ?? new Map<string, ObjectKey>();
      this.users.set(claim, users.set(user, { namespace, name }));
    }
  }

  /** The users of a claim, or of the DataVolume of the same name. */
  of({ metadata }: KubeObject): ObjectKey[] {
    return [...(this.users.get(idOf(metadata.namespace, metadata.name))?.values() ?? [])];
  }
}
