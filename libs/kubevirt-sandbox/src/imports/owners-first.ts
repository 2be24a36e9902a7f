import type { KubeObject } from '@headgate/kube-sandbox';

/** More owners above each other are a circle, or as good as one. */
const MAX_DEPTH = 16;

/**
 * The objects in an order in which owners precede the objects that they own. References to owners that are not among
 * the objects are removed.
 */
export function ownersFirst(objects: readonly KubeObject[]): KubeObject[] {
  const byUid = new Map(objects.flatMap((object) => (object.metadata.uid ? [[object.metadata.uid, object]] : [])));
  const depths = new Map<string, number>();
  const depthOf = ({ metadata: { uid = '', ownerReferences } }: KubeObject, level = 0): number => {
    const known = depths.get(uid);
    if (known !== undefined) return known;
    if (level >= MAX_DEPTH || !Array.isArray(ownerReferences)) return 0;
    const owners = ownerReferences.flatMap((reference) => byUid.get(reference.uid) ?? []);
    const depth = Math.max(0, ...owners.map((owner) => depthOf(owner, level + 1) + 1));
    if (uid !== '') depths.set(uid, depth);
    return depth;
  };
  return objects
    .map((object) => ({ object: withOwners(object, byUid), depth: depthOf(object) }))
    .sort((a, b) => a.depth - b.depth)
    .map(({ object }) => object);
}

function withOwners(object: KubeObject, byUid: ReadonlyMap<string, KubeObject>): KubeObject {
  const { ownerReferences, ...metadata } = object.metadata;
  if (ownerReferences === undefined) return object;
  const present = Array.isArray(ownerReferences)
    ? ownerReferences.filter(({ uid }) => uid !== metadata.uid && byUid.has(uid))
    : [];
  return { ...object, metadata: { ...metadata, ...(present.length > 0 && { ownerReferences: present }) } };
}
