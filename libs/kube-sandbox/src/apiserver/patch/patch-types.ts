import type { ServedResource } from '../resource-registry.js';

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

/** The media types with which a resource can be patched. */
export function patchTypesOf({ definition }: Pick<ServedResource, 'definition'>): string[] {
  return [JSON_PATCH, MERGE_PATCH, ...(definition.builtIn ? [STRATEGIC_MERGE_PATCH] : []), APPLY_PATCH];
}
