import type { ObjectMeta } from '../kube-object.js';

const MAPS_AND_LISTS = ['labels', 'annotations', 'finalizers', 'ownerReferences', 'managedFields'] as const;

/** Go omits empty maps and lists of the metadata: a server neither stores nor returns them. */
export function dropEmptyMeta(metadata: ObjectMeta): void {
  for (const field of MAPS_AND_LISTS) {
    if (metadata[field] && Object.keys(metadata[field]).length === 0) delete metadata[field];
  }
}
