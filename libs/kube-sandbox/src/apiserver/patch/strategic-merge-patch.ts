import { badRequest } from '../api-error.js';
import { deepCopy, deepEqual } from '../deep-copy.js';
import { schemaOfField } from '../schema/prune.js';
import type { StructuralSchema } from '../schema/structural-schema.js';
import { isObject } from './merge-patch.js';

type Fields = Record<string, unknown>;

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM_LIST = '$deleteFromPrimitiveList/';
const ELEMENT_ORDER = '$setElementOrder/';

/** Merge patch with lists that are merged by key according to the schema. Returns a copy. @throws ApiError 400 */
export function applyStrategicMergePatch(target: unknown, patch: unknown, schema: StructuralSchema): unknown {
  return mergeObjects(isObject(target) ? target : {}, patch as Fields, schema);
}

function mergeObjects(target: Fields, patch: Fields, schema: StructuralSchema): Fields {
  if (patch[DIRECTIVE] === 'replace') return withoutDirectives(patch);
  if (patch[DIRECTIVE] === 'delete') return {};
  const merged: Fields = retainKeys(deepCopy(target), patch[RETAIN_KEYS]);
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith(DELETE_FROM_LIST)) deleteFromList(merged, name.slice(DELETE_FROM_LIST.length), value);
    if (name.startsWith('$')) continue;
    if (value === null) delete merged[name];
    else merged[name] = mergeField(merged[name], value, schemaOfField(schema, name) ?? {});
  }
  for (const name of Object.keys(patch)) {
    if (!name.startsWith(ELEMENT_ORDER)) continue;
    const field = name.slice(ELEMENT_ORDER.length);
    merged[field] = ordered(merged[field], patch[name], mergeKey(schemaOfField(schema, field) ?? {}));
    if (merged[field] === undefined) delete merged[field];
  }
  return merged;
}

function mergeField(target: unknown, patch: unknown, schema: StructuralSchema): unknown {
  if (isObject(patch)) return mergeObjects(isObject(target) ? target : {}, patch, schema);
  if (!Array.isArray(patch) || schema['x-kubernetes-patch-strategy'] !== 'merge') return withoutDirectives(patch);
  const present = Array.isArray(target) ? target : [];
  const key = mergeKey(schema);
  if (key === undefined) return mergeValues(present, patch);
  return mergeItems(present, patch, key, schema.items ?? {});
}

const mergeKey = (schema: StructuralSchema): string | undefined => schema['x-kubernetes-patch-merge-key'];

function mergeValues(present: unknown[], patch: unknown[]): unknown[] {
  return [...present, ...patch.filter((value) => !present.some((other) => deepEqual(other, value)))];
}

function mergeItems(present: unknown[], patch: unknown[], key: string, schema: StructuralSchema): unknown[] {
  const items = patch.filter(isObject);
  if (items.some((item) => item[DIRECTIVE] === 'replace' && item[key] === undefined)) {
    return items.filter((item) => item[DIRECTIVE] === undefined).map(withoutDirectives);
  }
  const result = present.filter(isObject).map((item) => deepCopy(item));
  for (const item of items) {
    if (item[key] === undefined) throw badRequest(`map: ${goMap(item)} does not contain declared merge key: ${key}`);
    const at = result.findIndex((other) => deepEqual(other[key], item[key]));
    if (item[DIRECTIVE] === 'delete') {
      if (at >= 0) result.splice(at, 1);
    } else if (at < 0) result.push(withoutDirectives(item) as Fields);
    else result[at] = mergeObjects(result[at]!, item, schema);
  }
  return result;
}

const goMap = (item: Fields): string =>
  `map[${Object.entries(item)
    .map(([name, value]) => `${name}:${String(value)}`)
    .join(' ')}]`;

function retainKeys(target: Fields, keys: unknown): Fields {
  if (!Array.isArray(keys)) return target;
  return Object.fromEntries(Object.entries(target).filter(([name]) => keys.includes(name)));
}

function deleteFromList(target: Fields, name: string, values: unknown): void {
  const list = target[name];
  if (Array.isArray(list) && Array.isArray(values))
    target[name] = list.filter((value) => !values.some((gone) => deepEqual(gone, value)));
}

/** Listed items follow the given order; the others stay after their predecessor. */
function ordered(list: unknown, order: unknown, key: string | undefined): unknown {
  if (!Array.isArray(list) || !Array.isArray(order)) return list;
  const identity = (item: unknown): unknown => (key !== undefined && isObject(item) ? item[key] : item);
  const rank = (item: unknown): number => order.findIndex((each) => deepEqual(identity(each), identity(item)));
  const ranks: number[] = [];
  let last = -1;
  for (const item of list) {
    const own = rank(item);
    if (own >= 0) last = own;
    ranks.push(last);
  }
  return list
    .map((item, index) => ({ item, index, rank: ranks[index]!, named: rank(item) >= 0 }))
    .sort((a, b) => a.rank - b.rank || Number(b.named) - Number(a.named) || a.index - b.index)
    .map(({ item }) => item);
}

/** The values of a patch without its directives, for fields that are absent from the object. */
function withoutDirectives(value: unknown): Fields;
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value))
    return value.filter((item) => !isObject(item) || item[DIRECTIVE] !== 'delete').map(withoutDirectives);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([name, field]) => !name.startsWith('$') && field !== null);
  return Object.fromEntries(kept.map(([name, field]) => [name, withoutDirectives(field)]));
}
