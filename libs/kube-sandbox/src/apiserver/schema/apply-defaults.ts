import { deepCopy } from '../deep-copy.js';
import { schemaOfField } from './prune.js';
import type { StructuralSchema } from './structural-schema.js';

/**
 * Sets the defaults of absent fields in a draft. A null counts as absent when the field has a default and is not
 * nullable.
 */
export function applyDefaults(draft: unknown, schema: StructuralSchema): void {
  if (Array.isArray(draft)) {
    const { items } = schema;
    if (items && hasDefaults(items)) for (const item of draft) applyDefaults(item, items);
    return;
  }
  if (typeof draft !== 'object' || draft === null) return;
  const fields = draft as Record<string, unknown>;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const present = fields[name];
    const absent = present === undefined || (present === null && !property.nullable);
    if (absent && property.default !== undefined) fields[name] = deepCopy(property.default);
  }
  for (const [name, value] of Object.entries(fields)) {
    const below = schemaOfField(schema, name);
    if (below && typeof value === 'object' && hasDefaults(below)) applyDefaults(value, below);
  }
}

const known = new WeakMap<StructuralSchema, boolean>();

/** Most branches of a schema have no defaults and can be skipped. */
function hasDefaults(schema: StructuralSchema): boolean {
  let found = known.get(schema);
  if (found === undefined) {
    const { properties = {}, items, additionalProperties } = schema;
    const below = [...Object.values(properties), items, additionalProperties].filter(
      (each) => typeof each === 'object',
    );
    found = schema.default !== undefined || below.some(hasDefaults);
    known.set(schema, found);
  }
  return found;
}
