import type { InstanceRef } from '@headgate/domain-contracts';
import { KubeApiError } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import type { KubeObject } from '../api/kube-object.js';
import {
  CLAIMS,
  CLONES,
  DATA_VOLUMES,
  EXPORTS,
  MIGRATIONS,
  RESTORES,
  SECRETS,
  SERVICES,
  SNAPSHOTS,
  type Resource,
} from '../api/resources.js';
import { LABEL } from '../labels.js';

export interface Belonging {
  readonly resource: Resource;
  readonly object: KubeObject;
}

/** What may belong to a VM, in the order in which it is removed: users of a disk before the disk. */
const KINDS: readonly Resource[] = [
  EXPORTS,
  CLONES,
  RESTORES,
  SNAPSHOTS,
  MIGRATIONS,
  SERVICES,
  SECRETS,
  DATA_VOLUMES,
  CLAIMS,
];

/**
 * What belongs to a VM: it bears the VM's label, or the VM owns it. A labelled object that somebody else owns (such as a
 * disk of a clone, to which labels were copied) does not belong to it, and neither does anything that merely looks alike.
 * @param uid the VM's; undefined when the VM itself is gone
 */
export async function belongingsOf(
  api: KubeApi,
  { namespace, name }: InstanceRef,
  uid: string | undefined,
): Promise<Belonging[]> {
  const found = await Promise.all(KINDS.map((resource) => labelled(api, resource, namespace, name)));
  const objects = found.flat();
  const mine = new Set<string>(uid === undefined ? [] : [uid]);
  // Owners may be among the found themselves (a claim is owned by its DataVolume), in any order.
  for (let size = -1; size !== mine.size;) {
    size = mine.size;
    for (const { object } of objects) if (isMine(object, mine)) mine.add(object.metadata.uid ?? '');
  }
  return objects.filter(({ object }) => mine.has(object.metadata.uid ?? ''));
}

function isMine({ metadata }: KubeObject, mine: ReadonlySet<string>): boolean {
  const owners = metadata.ownerReferences ?? [];
  return owners.length === 0 || owners.some(({ uid }) => mine.has(uid));
}

async function labelled(api: KubeApi, resource: Resource, namespace: string, name: string): Promise<Belonging[]> {
  try {
    const objects = await api.list(resource, { namespace, labelSelector: `${LABEL.vm}=${name},${LABEL.kind}!=ct` });
    return objects.map((object) => ({ resource, object }));
  } catch (error) {
    // A cluster without CDI or snapshots has none.
    if (KubeApiError.has(error, 404)) return [];
    throw error;
  }
}
