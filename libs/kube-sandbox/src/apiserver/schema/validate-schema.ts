import { fieldInvalid, fieldNotSupported, fieldRequired, type StatusCause } from '../api-error.js';
import { deepEqual } from '../deep-copy.js';
import { schemaOfField } from './prune.js';
import type { StructuralSchema } from './structural-schema.js';

/** All violations of a schema, with the messages of an API server. CEL rules are not evaluated. */
export function validateSchema(value: unknown, schema: StructuralSchema, path = ''): StatusCause[] {
  if (value === undefined || (value === null && schema.nullable)) return [];
  if (!hasType(value, schema)) return [wrongType(value, schema, path)];
  return [
    ...validateValue(value, schema, path),
    ...validateChildren(value, schema, path),
    ...validateBranches(value, schema, path),
  ];
}

function hasType(value: unknown, schema: StructuralSchema): boolean {
  if (schema['x-kubernetes-int-or-string']) return typeof value === 'string' || Number.isInteger(value);
  switch (schema.type) {
    case undefined:
      return true;
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === schema.type;
  }
}

export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function wrongType(value: unknown, schema: StructuralSchema, path: string): StatusCause {
  const expected = schema['x-kubernetes-int-or-string'] ? 'integer,string' : schema.type;
  const found = typeName(value);
  return {
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: "${found}": ${path} in body must be of type ${expected}: "${found}"`,
    field: path || '<nil>',
  };
}

function validateValue(value: unknown, schema: StructuralSchema, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const refuse = (why: string) => causes.push(fieldInvalid(path, value, `${path} in body ${why}`));
  if (schema.enum && !schema.enum.some((allowed) => deepEqual(allowed, value)))
    causes.push(fieldNotSupported(path, value, schema.enum));
  if (typeof value === 'string') {
    const { minLength = 0, maxLength = Infinity, pattern, format } = schema;
    if (value.length < minLength) refuse(`should be at least ${minLength} chars long`);
    if (value.length > maxLength) {
      causes.push({
        reason: 'FieldValueTooLong',
        message: `Too long: may not be more than ${maxLength} bytes`,
        field: path,
      });
    }
    if (pattern && !new RegExp(pattern).test(value)) refuse(`should match '${pattern}'`);
    if (format === 'date-time' && Number.isNaN(Date.parse(value)))
      refuse(`must be of type date-time: ${JSON.stringify(value)}`);
  }
  if (typeof value === 'number') {
    const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
    if (value < minimum || (exclusiveMinimum && value === minimum))
      refuse(`should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${minimum}`);
    if (value > maximum || (exclusiveMaximum && value === maximum))
      refuse(`should be less than ${exclusiveMaximum ? '' : 'or equal to '}${maximum}`);
    if (multipleOf && value % multipleOf !== 0) refuse(`should be a multiple of ${multipleOf}`);
  }
  return causes;
}

function validateChildren(value: unknown, schema: StructuralSchema, path: string): StatusCause[] {
  if (Array.isArray(value)) return validateItems(value, schema, path);
  if (typeof value !== 'object' || value === null) return [];
  const fields = value as Record<string, unknown>;
  const causes = (schema.required ?? [])
    .filter((name) => fields[name] === undefined)
    .map((name) => fieldRequired(path ? `${path}.${name}` : name));
  const { minProperties = 0, maxProperties = Infinity } = schema;
  const count = Object.keys(fields).length;
  if (count < minProperties)
    causes.push(fieldInvalid(path, value, `${path} in body should have at least ${minProperties} properties`));
  if (count > maxProperties)
    causes.push({
      reason: 'FieldValueTooMany',
      message: `Too many: ${count}: must have at most ${maxProperties} items`,
      field: path,
    });
  for (const [name, field] of Object.entries(fields)) {
    const below = schemaOfField(schema, name);
    if (below) causes.push(...validateSchema(field, below, path ? `${path}.${name}` : name));
  }
  return causes;
}

function validateItems(items: unknown[], schema: StructuralSchema, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const { minItems = 0, maxItems = Infinity, items: itemSchema } = schema;
  if (items.length < minItems)
    causes.push(fieldInvalid(path, items.length, `${path} in body should have at least ${minItems} items`));
  if (items.length > maxItems) {
    causes.push({
      reason: 'FieldValueTooMany',
      message: `Too many: ${items.length}: must have at most ${maxItems} items`,
      field: path,
    });
  }
  if (itemSchema) items.forEach((item, index) => causes.push(...validateSchema(item, itemSchema, `${path}[${index}]`)));
  return [...causes, ...duplicates(items, schema, path)];
}

function duplicates(items: unknown[], schema: StructuralSchema, path: string): StatusCause[] {
  const listType = schema['x-kubernetes-list-type'];
  if (listType !== 'map' && listType !== 'set') return [];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const seen = new Set<string>();
  return items.flatMap((item, index): StatusCause[] => {
    const identity =
      listType === 'set'
        ? item
        : Object.fromEntries(keys.map((key) => [key, (item as Record<string, unknown> | null)?.[key]]));
    const text = JSON.stringify(identity);
    if (!seen.has(text)) {
      seen.add(text);
      return [];
    }
    return [{ reason: 'FieldValueDuplicate', message: `Duplicate value: ${text}`, field: `${path}[${index}]` }];
  });
}

/** `allOf`, `anyOf`, `oneOf` and `not` only restrict values; in structural schemas they can't define fields. */
function validateBranches(value: unknown, schema: StructuralSchema, path: string): StatusCause[] {
  const fits = (branch: StructuralSchema): boolean => validateSchema(value, branch, path).length === 0;
  const refuse = (why: string): StatusCause[] => [
    fieldInvalid(path || '<nil>', value, `${path} in body must validate ${why}`),
  ];
  const causes = (schema.allOf ?? []).flatMap((branch) => validateSchema(value, branch, path));
  if (schema.anyOf && !schema['x-kubernetes-int-or-string'] && !schema.anyOf.some(fits))
    causes.push(...refuse('at least one schema (anyOf)'));
  if (schema.oneOf && schema.oneOf.filter(fits).length !== 1) causes.push(...refuse('one and only one schema (oneOf)'));
  if (schema.not && fits(schema.not))
    causes.push(fieldInvalid(path || '<nil>', value, `${path} in body must not validate the schema (not)`));
  return causes;
}
