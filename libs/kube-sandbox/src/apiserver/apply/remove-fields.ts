import { isObject } from '../patch/merge-patch.js';
import { schemaOfField } from '../schema/prune.js';
import type { StructuralSchema } from '../schema/structural-schema.js';
import { isAssociative, joinPath, listElement, splitPath, type FieldPath } from './field-paths.js';

/**
 * Removes fields from a draft, then empty objects and lists. List items stay when `kept` contains a path inside them.
 */
export function removeFields(draft: object, schema: StructuralSchema, paths: FieldPath[], kept: FieldPath[]): void {
  const isKept = (prefix: string[]): boolean =>
    kept.some((path) => path.startsWith(`${joinPath(prefix)}${joinPath(['', ''])}`));
  // Deepest first, items after their fields.
  const order = (path: string[]): number => 2 * path.length - (path.at(-1) === '.' ? 1 : 0);
  for (const path of paths.map(splitPath).sort((a, b) => order(b) - order(a)))
    removeAt(draft, schema, path, [], isKept);
}

function removeAt(
  value: unknown,
  schema: StructuralSchema,
  path: string[],
  above: string[],
  isKept: (prefix: string[]) => boolean,
): void {
  const [element = '', ...rest] = path;
  if (Array.isArray(value)) return removeItem(value, schema, path, above, isKept);
  if (!isObject(value) || !element.startsWith('f:')) return;
  const name = element.slice(2);
  if (rest.length > 0) removeAt(value[name], schemaOfField(schema, name) ?? {}, rest, [...above, element], isKept);
  if (rest.length === 0 || isEmpty(value[name])) delete value[name];
}

function removeItem(
  items: unknown[],
  schema: StructuralSchema,
  path: string[],
  above: string[],
  isKept: (prefix: string[]) => boolean,
): void {
  const [element = '', ...rest] = path;
  const at = items.findIndex((item) => listElement(item, schema) === element);
  if (!isAssociative(schema) || at < 0) return;
  const here = [...above, element];
  if (rest.length === 0 || rest[0] === '.') {
    if (!isKept(here)) items.splice(at, 1);
  } else if (!isKey(rest, schema)) removeAt(items[at], schema.items ?? {}, rest, here, isKept);
}

/** The keys of a list item are removed only with the item. */
function isKey(path: string[], schema: StructuralSchema): boolean {
  return path.length === 1 && (schema['x-kubernetes-list-map-keys'] ?? []).includes(path[0]!.slice(2));
}

function isEmpty(value: unknown): boolean {
  return (isObject(value) && Object.keys(value).length === 0) || (Array.isArray(value) && value.length === 0);
}
