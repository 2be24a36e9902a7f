import { apiError, type ApiError } from '../api-error.js';
import { deepCopy, deepEqual } from '../deep-copy.js';
import type { KubeObject } from '../kube-object.js';
import { isObject } from '../patch/merge-patch.js';
import { schemaOfField } from '../schema/prune.js';
import type { StructuralSchema } from '../schema/structural-schema.js';
import { displayPath, fieldsOf, isAssociative, listElement, type FieldPath } from './field-paths.js';
import { readOwnerships, sameManager, setOwnerships, type Manager, type Ownership } from './managed-fields.js';
import { removeFields } from './remove-fields.js';

export interface ApplyRequest {
  /** The complete configuration of the manager: it no longer owns fields that are absent from it. */
  configuration: KubeObject;
  /** The live object; undefined when the apply creates it. */
  live: KubeObject | undefined;
  schema: StructuralSchema;
  manager: Manager;
  /** Takes over conflicting fields from other managers. */
  force: boolean;
  time: string;
  /** Top-level fields that this endpoint does not write, such as `status` on the main endpoint. */
  skip: readonly string[];
}

/**
 * Server-side apply: merges a configuration into the live object and records the owner of each field.
 * @throws ApiError 409 when another manager owns a field that the configuration would change
 */
export function serverSideApply({ configuration, live, schema, manager, force, time, skip }: ApplyRequest): KubeObject {
  const ownerships = readOwnerships(live?.metadata.managedFields);
  const wanted = fieldsOf(configuration, schema, skip);
  const present = live ? fieldsOf(live, schema) : new Map<FieldPath, unknown>();
  const others = ownerships.filter((ownership) => !sameManager(ownership, manager));
  const conflicts = findConflicts(others, wanted, present);
  if (conflicts.length > 0 && !force) throw applyConflict(conflicts);
  for (const { owner, path } of conflicts) owner.fields.delete(path);

  const own = ownerships.find((ownership) => sameManager(ownership, manager));
  const merged = mergeRoot(live, configuration, schema, skip);
  const kept = [...wanted.keys(), ...others.flatMap(({ fields }) => [...fields])];
  const stillOwned = new Set(kept);
  removeFields(
    merged,
    schema,
    [...(own?.fields ?? [])].filter((path) => !stillOwned.has(path)),
    kept,
  );
  const fields = new Set(wanted.keys());
  const unchanged = own && own.fields.size === fields.size && [...fields].every((path) => own.fields.has(path));
  const appliedAt = unchanged && live && deepEqual(withoutManagers(live), withoutManagers(merged)) ? own.time : time;
  setOwnerships(merged, [...others, { ...manager, fields, time: appliedAt }]);
  return merged;
}

const withoutManagers = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, managedFields: undefined },
});

interface FieldConflict {
  owner: Ownership;
  path: FieldPath;
}

function findConflicts(
  others: Ownership[],
  wanted: Map<FieldPath, unknown>,
  present: Map<FieldPath, unknown>,
): FieldConflict[] {
  const differing = [...wanted].filter(([path, value]) => !deepEqual(present.get(path), value)).map(([path]) => path);
  return others.flatMap((owner) => differing.filter((path) => owner.fields.has(path)).map((path) => ({ owner, path })));
}

function applyConflict(conflicts: FieldConflict[]): ApiError {
  const describe = ({ name, operation, apiVersion, subresource, time }: Ownership): string =>
    `"${name}"${subresource ? ` with subresource "${subresource}"` : ''}${operation === 'Apply' ? '' : ` using ${apiVersion}${time ? ` at ${time}` : ''}`}`;
  const byOwner = new Map<string, FieldPath[]>();
  for (const { owner, path } of conflicts)
    byOwner.set(describe(owner), [...(byOwner.get(describe(owner)) ?? []), path]);
  const lines = [...byOwner].map(([owner, paths]) =>
    paths.length === 1
      ? `conflict with ${owner}: ${displayPath(paths[0]!)}`
      : `conflicts with ${owner}:\n${paths.map((path) => `- ${displayPath(path)}`).join('\n')}`,
  );
  const causes = conflicts.map(({ owner, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${describe(owner)}`,
    field: displayPath(path),
  }));
  const count = `${conflicts.length} conflict${conflicts.length === 1 ? '' : 's'}`;
  return apiError(409, 'Conflict', `Apply failed with ${count}: ${lines.join('\n')}`, { causes });
}

function mergeRoot(
  live: KubeObject | undefined,
  configuration: KubeObject,
  schema: StructuralSchema,
  skip: readonly string[],
): KubeObject {
  if (!live) return deepCopy(configuration);
  const wanted = Object.fromEntries(Object.entries(configuration).filter(([name]) => !skip.includes(name)));
  return mergeValue(live, wanted, schema) as KubeObject;
}

function mergeValue(live: unknown, wanted: unknown, schema: StructuralSchema): unknown {
  if (isObject(live) && isObject(wanted) && schema['x-kubernetes-map-type'] !== 'atomic') {
    const merged: Record<string, unknown> = deepCopy(live);
    for (const [name, value] of Object.entries(wanted))
      merged[name] = mergeValue(live[name], value, schemaOfField(schema, name) ?? {});
    return merged;
  }
  if (Array.isArray(live) && Array.isArray(wanted) && isAssociative(schema)) return mergeLists(live, wanted, schema);
  return deepCopy(wanted);
}

/** Existing items keep their position; new ones are appended. */
function mergeLists(live: unknown[], wanted: unknown[], schema: StructuralSchema): unknown[] {
  const missing = new Map(wanted.map((item) => [listElement(item, schema), item]));
  const merged = live.map((item) => {
    const element = listElement(item, schema);
    const match = missing.get(element);
    missing.delete(element);
    return match === undefined ? deepCopy(item) : mergeValue(item, match, schema.items ?? {});
  });
  return [...merged, ...[...missing.values()].map((item) => deepCopy(item))];
}
