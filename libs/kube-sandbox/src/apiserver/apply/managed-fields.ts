import type { KubeObject, ManagedFieldsEntry } from '../kube-object.js';
import type { StructuralSchema } from '../schema/structural-schema.js';
import { compareFields, decodeFields, encodeFields, fieldsOf, type FieldPath } from './field-paths.js';

/** The field manager of a write and its operation. */
export interface Manager {
  name: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  subresource?: string;
}

export interface Ownership extends Manager {
  fields: Set<FieldPath>;
  time?: string;
}

export function sameManager(a: Manager, b: Manager): boolean {
  return (
    a.name === b.name &&
    a.operation === b.operation &&
    (a.subresource ?? '') === (b.subresource ?? '') &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  );
}

export function readOwnerships(entries: ManagedFieldsEntry[] = []): Ownership[] {
  return entries.map(({ manager = '', operation = 'Update', apiVersion = '', subresource, time, fieldsV1 }) => ({
    name: manager,
    operation,
    apiVersion,
    ...(subresource && { subresource }),
    ...(time && { time }),
    fields: decodeFields(fieldsV1),
  }));
}

export function writeOwnerships(ownerships: Ownership[]): ManagedFieldsEntry[] {
  return ownerships
    .filter(({ fields }) => fields.size > 0)
    .sort((a, b) => Number(b.operation === 'Apply') - Number(a.operation === 'Apply'))
    .map(({ name, operation, apiVersion, subresource, time, fields }) => ({
      manager: name,
      operation,
      apiVersion,
      ...(time && { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: encodeFields(fields),
      ...(subresource && { subresource }),
    }));
}

/**
 * Records a create, replace or patch in the draft's managedFields: the manager becomes the only owner of the changed
 * fields; removed fields have no owner. A writer that empties the list resets it, as in a real server.
 */
export function recordUpdate(
  draft: KubeObject,
  previous: KubeObject | undefined,
  schema: StructuralSchema,
  manager: Manager,
  time: string,
): void {
  const before = previous ? fieldsOf(previous, schema) : new Map<FieldPath, unknown>();
  const { changed, removed } = compareFields(before, fieldsOf(draft, schema));
  const isReset = draft.metadata.managedFields?.length === 0;
  const ownerships = isReset ? [] : readOwnerships(previous?.metadata.managedFields);
  for (const ownership of ownerships) {
    for (const path of removed) ownership.fields.delete(path);
    if (!sameManager(ownership, manager)) for (const path of changed) ownership.fields.delete(path);
  }
  const own = ownerships.find((each) => sameManager(each, manager));
  if (own && changed.length > 0) {
    for (const path of changed) own.fields.add(path);
    own.time = time;
  } else if (changed.length > 0) ownerships.push({ ...manager, fields: new Set(changed), time });
  setOwnerships(draft, ownerships);
}

export function setOwnerships(draft: KubeObject, ownerships: Ownership[]): void {
  const entries = writeOwnerships(ownerships);
  if (entries.length > 0) draft.metadata.managedFields = entries;
  else delete draft.metadata.managedFields;
}
