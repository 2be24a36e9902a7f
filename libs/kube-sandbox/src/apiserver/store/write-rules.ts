import { deepEqual } from '../deep-copy.js';
import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';

/** What no writer may change once the object exists. */
export function keepServerFields(draft: KubeObject, previous: KubeObject): void {
  const { metadata } = draft;
  const { uid, creationTimestamp, generation, resourceVersion, name, namespace } = previous.metadata;
  const { deletionTimestamp = metadata.deletionTimestamp } = previous.metadata;
  Object.assign(metadata, { uid, creationTimestamp, generation, resourceVersion, name, namespace, deletionTimestamp });
  draft.apiVersion = previous.apiVersion;
  draft.kind = previous.kind;
}

/** With a status subresource only changes outside metadata and status count, without one also those of the status. */
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
