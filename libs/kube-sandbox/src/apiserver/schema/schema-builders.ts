import type { JsonValue } from '../kube-object.js';
import type { StructuralSchema } from './structural-schema.js';

/** Helpers for writing the schemas of built-in kinds. */

export type Fields = Record<string, StructuralSchema>;

export const string = (description?: string): StructuralSchema => ({
  type: 'string',
  ...(description && { description }),
});
export const integer = (description?: string): StructuralSchema => ({
  type: 'integer',
  format: 'int32',
  ...(description && { description }),
});
export const int64 = (description?: string): StructuralSchema => ({
  type: 'integer',
  format: 'int64',
  ...(description && { description }),
});
export const boolean = (description?: string): StructuralSchema => ({
  type: 'boolean',
  ...(description && { description }),
});
export const time = (description?: string): StructuralSchema => ({
  type: 'string',
  format: 'date-time',
  nullable: true,
  ...(description && { description }),
});
export const oneOf = (values: string[], description?: string): StructuralSchema => ({
  type: 'string',
  enum: values,
  ...(description && { description }),
});

/** A quantity or a port: `2`, `"500m"`, `"http"`. */
export const intOrString = (description?: string): StructuralSchema => ({
  'x-kubernetes-int-or-string': true,
  ...(description && { description }),
});

export const object = (properties: Fields, required: string[] = [], description?: string): StructuralSchema => ({
  type: 'object',
  ...(description && { description }),
  properties,
  ...(required.length > 0 && { required }),
});

/** Any object; its fields are kept and not validated. */
export const anything = (description?: string): StructuralSchema => ({
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  ...(description && { description }),
});

/** A map with values of one type. */
export const mapOf = (values: StructuralSchema, description?: string): StructuralSchema => ({
  type: 'object',
  additionalProperties: values,
  ...(description && { description }),
});

/** A list that is replaced as a whole. */
export const listOf = (items: StructuralSchema, description?: string): StructuralSchema => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': 'atomic',
  ...(description && { description }),
});

/**
 * A list whose items are identified by the given fields and merged individually; strategic merge patch uses the first
 * field.
 */
export const listBy = (
  keys: [string, ...string[]],
  items: StructuralSchema,
  description?: string,
): StructuralSchema => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
  'x-kubernetes-patch-merge-key': keys[0],
  'x-kubernetes-patch-strategy': 'merge',
  ...(description && { description }),
});

/** A set of scalar values, merged by value. */
export const setOf = (items: StructuralSchema, description?: string): StructuralSchema => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': 'set',
  'x-kubernetes-patch-strategy': 'merge',
  ...(description && { description }),
});

export const atomic = (schema: StructuralSchema): StructuralSchema => ({
  ...schema,
  'x-kubernetes-map-type': 'atomic',
});
export const withDefault = (value: JsonValue, schema: StructuralSchema): StructuralSchema => ({
  ...schema,
  default: value,
});
export const described = (description: string, schema: StructuralSchema): StructuralSchema => ({
  ...schema,
  description,
});
