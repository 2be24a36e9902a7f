import { deepEqual } from '../deep-copy.js';
import type { JsonObject } from '../kube-object.js';
import { isObject } from '../patch/merge-patch.js';
import { schemaOfField } from '../schema/prune.js';
import type { StructuralSchema } from '../schema/structural-schema.js';

/**
 * The joined `fieldsV1` elements of a path: `f:metadata`, `f:labels`, `f:app`. `f:` is a field, `k:` the keys of a list
 * item, `v:` a value of a set, and a final `.` the list item itself.
 */
export type FieldPath = string;

const SEPARATOR = '\u0000';

export const joinPath = (elements: string[]): FieldPath => elements.join(SEPARATOR);
export const splitPath = (path: FieldPath): string[] => path.split(SEPARATOR);

/** Fields without an owner: the server sets them, or they identify the object. */
const UNOWNED_METADATA = new Set([
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
]);

/** The fields of an object that can have an owner, with their values, in the granularity of the schema. */
export function fieldsOf(
  object: object,
  schema: StructuralSchema,
  skip: readonly string[] = [],
): Map<FieldPath, unknown> {
  const fields = new Map<FieldPath, unknown>();
  for (const [name, value] of Object.entries(object)) {
    if (name === 'apiVersion' || name === 'kind' || skip.includes(name)) continue;
    const owned =
      name === 'metadata' && isObject(value)
        ? Object.fromEntries(Object.entries(value).filter(([key]) => !UNOWNED_METADATA.has(key)))
        : value;
    if (name === 'metadata' && Object.keys(owned as object).length === 0) continue;
    collect(owned, schemaOfField(schema, name) ?? {}, [`f:${name}`], fields);
  }
  return fields;
}

function collect(value: unknown, schema: StructuralSchema, path: string[], fields: Map<FieldPath, unknown>): void {
  if (value === undefined) return;
  if (isObject(value) && schema['x-kubernetes-map-type'] !== 'atomic' && Object.keys(value).length > 0) {
    for (const [name, field] of Object.entries(value))
      collect(field, schemaOfField(schema, name) ?? {}, [...path, `f:${name}`], fields);
    return;
  }
  if (Array.isArray(value) && isAssociative(schema)) {
    for (const item of value) {
      const element = listElement(item, schema);
      const atomicItem = !isObject(item) || schema.items?.['x-kubernetes-map-type'] === 'atomic';
      fields.set(joinPath([...path, element, '.']), atomicItem ? item : true);
      if (!atomicItem)
        for (const [name, field] of Object.entries(item))
          collect(field, schemaOfField(schema.items ?? {}, name) ?? {}, [...path, element, `f:${name}`], fields);
    }
    return;
  }
  fields.set(joinPath(path), value);
}

/** Whether the items of a list have individual owners. */
export function isAssociative(schema: StructuralSchema): boolean {
  const type = schema['x-kubernetes-list-type'];
  return type === 'map' || type === 'set';
}

/** The identity of an item in an associative list: its keys with their defaults, or its value. */
export function listElement(item: unknown, schema: StructuralSchema): string {
  if (schema['x-kubernetes-list-type'] === 'set') return `v:${JSON.stringify(item)}`;
  const fields = isObject(item) ? item : {};
  const keys = [...(schema['x-kubernetes-list-map-keys'] ?? [])].sort();
  const named = keys.map((key) => [key, fields[key] ?? schema.items?.properties?.[key]?.default]);
  return `k:${JSON.stringify(Object.fromEntries(named))}`;
}

/** The fields that differ between two states: added or changed ones, and removed ones. */
export function compareFields(
  before: Map<FieldPath, unknown>,
  after: Map<FieldPath, unknown>,
): { changed: FieldPath[]; removed: FieldPath[] } {
  return {
    changed: [...after]
      .filter(([path, value]) => !before.has(path) || !deepEqual(before.get(path), value))
      .map(([path]) => path),
    removed: [...before.keys()].filter((path) => !after.has(path)),
  };
}

/** Nests paths as in `managedFields[].fieldsV1`. */
export function encodeFields(paths: Iterable<FieldPath>): JsonObject {
  const root: JsonObject = {};
  for (const path of [...paths].sort()) {
    let node = root;
    for (const element of splitPath(path)) node = (node[element] ??= {}) as JsonObject;
  }
  return root;
}

export function decodeFields(encoded: JsonObject | undefined): Set<FieldPath> {
  const paths = new Set<FieldPath>();
  const walk = (node: JsonObject, path: string[]): void => {
    for (const [element, below] of Object.entries(node)) {
      const children = (below ?? {}) as JsonObject;
      if (Object.keys(children).length === 0) paths.add(joinPath([...path, element]));
      else walk(children, [...path, element]);
    }
  };
  walk(encoded ?? {}, []);
  return paths;
}

/** A path in the form of conflict messages: `.spec.containers[name="web"].image`. */
export function displayPath(path: FieldPath): string {
  return splitPath(path)
    .map((element) => {
      if (element === '.') return '';
      if (element.startsWith('f:')) return `.${element.slice(2)}`;
      if (element.startsWith('v:')) return `[=${element.slice(2)}]`;
      const keys = Object.entries(JSON.parse(element.slice(2)) as JsonObject);
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
    })
    .join('');
}
