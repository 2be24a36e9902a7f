import type { InstanceRef } from '@headgate/domain-contracts';
import { KubeApiError } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import type { KubeObject } from '../api/kube-object.js';
import type { ClusterFacts } from '../discovery/cluster-facts.js';
import {
  CLAIMS,
  CLONES,
  CLONES_V1ALPHA1,
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

export interface VmIdentity {
  readonly ref: InstanceRef;
  /** Undefined when the VM itself no longer exists. */
  readonly uid: string | undefined;
}

export interface OwnedObject {
  readonly resource: Resource;
  readonly object: KubeObject;
}

/** Kinds that may belong to a VM, in the order of their deletion: the users of a disk before the disk. */
const ownedKinds = (facts: ClusterFacts): readonly Resource[] => [
  EXPORTS,
  facts.serves(CLONES.apiVersion) ? CLONES : CLONES_V1ALPHA1,
  RESTORES,
  SNAPSHOTS,
  MIGRATIONS,
  SERVICES,
  SECRETS,
  DATA_VOLUMES,
  CLAIMS,
];

/**
 * The objects that belong to a VM: they have its label and no owner, or it owns them. A labeled object with another
 * owner does not belong to the VM (the disk of a clone, for example, gets a copy of the labels), and names do not
 * count.
 */
export async function ownedObjects(
  api: KubeApi,
  facts: ClusterFacts,
  { ref: { namespace, name }, uid }: VmIdentity,
): Promise<OwnedObject[]> {
  const lists = await Promise.all(ownedKinds(facts).map((resource) => listLabeled(api, resource, { namespace, name })));
  const candidates = lists.flat();
  const owned = new Set<string>(uid === undefined ? [] : [uid]);
  // A candidate may own another one (a DataVolume owns its claim), in any order: repeat until nothing is added.
  for (let size = -1; size !== owned.size;) {
    size = owned.size;
    for (const { object } of candidates) if (isOwned(object, owned)) owned.add(object.metadata.uid ?? '');
  }
  return candidates.filter(({ object }) => owned.has(object.metadata.uid ?? ''));
}

function isOwned({ metadata }: KubeObject, uids: ReadonlySet<string>): boolean {
  const owners = metadata.ownerReferences ?? [];
  return owners.length === 0 || owners.some(({ uid }) => uids.has(uid));
}

async function listLabeled(
  api: KubeApi,
  resource: Resource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<OwnedObject[]> {
  try {
    const objects = await api.list(resource, { namespace, labelSelector: `${LABEL.vm}=${name},${LABEL.kind}!=ct` });
    return objects.map((object) => ({ resource, object }));
  } catch (error) {
    // The API is not served without CDI or snapshots.
    if (KubeApiError.has(error, 404)) return [];
    throw error;
  }
}
