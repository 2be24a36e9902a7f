import { isMarked, nestedType } from '@headgate/api-contracts';
import { targetConstructorToSchema } from 'class-validator-jsonschema';
import type { ClassDescription } from './read-descriptions.js';

export type DtoClass = new () => object;
export type JsonSchema = { [key: string]: unknown };

type Converters = NonNullable<Parameters<typeof targetConstructorToSchema>[1]>['additionalConverters'];

export const referenceTo = (type: DtoClass): JsonSchema => ({ $ref: `#/components/schemas/${type.name}` });

const converters: Converters = {
  isIso8601: { type: 'string', format: 'date-time' },
  nestedValidation: ({ target, propertyName }) => referenceTo(nestedType(target as DtoClass, propertyName) as DtoClass),
  // Any other validator, such as the text fields of api-contracts, which carry their schema as the first constraint.
  customValidation: ({ constraints }) => {
    const [schema] = (constraints ?? []) as unknown[];
    return typeof schema === 'object' && schema !== null ? { type: 'string', ...schema } : {};
  },
};

/**
 * The JSON Schema of a DTO class, derived from its validators, with its docstrings. Nested classes are references to
 * the components of the API document.
 */
export function schemaOf(type: DtoClass, described?: ClassDescription): JsonSchema {
  const { properties = {} } = targetConstructorToSchema(type, { additionalConverters: converters });
  const names = Object.keys(properties);
  const field = (name: string): JsonSchema => ({
    ...describedBy(described?.fields.get(name)),
    ...nullable(type, name, plain(properties[name] as JsonSchema)),
  });
  return {
    ...describedBy(described?.text),
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, field(name)])),
    required: names.filter((name) => !isMarked('optional', type, name)),
  };
}

const describedBy = (description: string | undefined): JsonSchema => (description === undefined ? {} : { description });

/** A nested class has its own type. */
const plain = (schema: JsonSchema): JsonSchema => ('$ref' in schema ? { $ref: schema['$ref'] } : schema);

function nullable(type: DtoClass, name: string, schema: JsonSchema): JsonSchema {
  if (!isMarked('nullable', type, name)) return schema;
  if ('$ref' in schema) return { anyOf: [schema, { type: 'null' }] };
  return typeof schema['type'] === 'string' ? { ...schema, type: [schema['type'], 'null'] } : schema;
}
