import { deepEqual } from '../deep-copy.js';
import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';

/** Keeps the metadata fields that are immutable after creation. */
export function keepServerFields(draft: KubeObject, previous: KubeObject): void {
  const { metadata } = draft;
  const { uid, creationTimestamp, generation, resourceVersion, name, namespace } = previous.metadata;
  const { deletionTimestamp = metadata.deletionTimestamp } = previous.metadata;
  Object.assign(metadata, { uid, creationTimestamp, generation, resourceVersion, name, namespace, deletionTimestamp });
  draft.apiVersion = previous.apiVersion;
  draft.kind = previous.kind;
}

/** Ignores metadata and, for resources with a status subresource, status. */
export function changesGeneration(
  previous: KubeObject,
  draft: KubeObject,
  { statusSubresource }: ResourceDefinition,
): boolean {
  const ignored = statusSubresource ? ['metadata', 'status'] : ['metadata'];
  const before = previous as unknown as Record<string, unknown>;
  const after = draft as unknown as Record<string, unknown>;
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields].some((field) => !ignored.includes(field) && !deepEqual(before[field], after[field]));
}
