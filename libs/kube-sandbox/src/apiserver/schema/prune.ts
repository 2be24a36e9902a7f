import { objectMetaSchema } from './object-meta-schema.js';
import { string } from './schema-builders.js';
import type { StructuralSchema } from './structural-schema.js';

const EMBEDDED: Record<string, StructuralSchema> = { apiVersion: string(), kind: string(), metadata: objectMetaSchema };

/**
 * Removes unknown fields from a draft.
 * @returns their paths, such as `spec.template.x` or `spec.disks[0].y`
 */
export function prune(draft: unknown, schema: StructuralSchema): string[] {
  const removed: string[] = [];
  pruneAt(draft, schema, '', removed);
  return removed;
}

function pruneAt(value: unknown, schema: StructuralSchema, path: string, removed: string[]): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items) value.forEach((item, index) => pruneAt(item, items, `${path}[${index}]`, removed));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const fields = value as Record<string, unknown>;
  for (const name of Object.keys(fields)) {
    const below = path ? `${path}.${name}` : name;
    const known = schemaOfField(schema, name);
    if (known) pruneAt(fields[name], known, below, removed);
    else if (!keepsUnknown(schema)) {
      removed.push(below);
      delete fields[name];
    }
  }
}

/** The schema of one field of an object, if it is known. */
export function schemaOfField(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  const embedded = schema['x-kubernetes-embedded-resource'] ? EMBEDDED[name] : undefined;
  const { additionalProperties } = schema;
  const others = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  return schema.properties?.[name] ?? embedded ?? others;
}

function keepsUnknown(schema: StructuralSchema): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
}
