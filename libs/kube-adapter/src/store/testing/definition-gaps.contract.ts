import ts from 'typescript';

/** The parts of a structural schema of OpenAPI v3 that are compared. */
export interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

const ANY_FIELDS = ts.TypeFlags.Unknown | ts.TypeFlags.Any | ts.TypeFlags.NonPrimitive;

/**
 * Where a schema and the type that is written with it differ, one sentence each. An API server drops fields that the
 * schema does not name, without an error, and refuses objects without its required ones.
 */
export function definitionGaps(checker: ts.TypeChecker, type: ts.Type, schema: Schema, path: string): string[] {
  const { parts, isNullable } = partsOf(type);
  // `unknown` and `object` have no fields to compare.
  if (parts.length === 0 || parts.some(({ flags }) => flags & ANY_FIELDS))
    return isOpen(schema) ? [] : [`${path} may have any fields, but the definition drops them.`];
  const gaps = isNullable && schema.nullable !== true ? [`${path} may be null, but the definition refuses that.`] : [];
  const objects = parts.filter(({ flags }) => flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection));
  if (objects.length === 0) return [...gaps, ...valueGaps(parts, schema, path)];
  if (objects.length < parts.length)
    return isOpen(schema) ? gaps : [...gaps, `${path} is an object or a value, but the definition allows one of them.`];
  if (objects.every((one) => checker.isArrayLikeType(one))) {
    if (schema.type !== 'array' || !schema.items) return [...gaps, `${path} is an array, but not in the definition.`];
    const { items } = schema;
    return [
      ...gaps,
      ...objects.flatMap((one) =>
        checker
          .getTypeArguments(one as ts.TypeReference)
          .flatMap((item) => definitionGaps(checker, item, items, `${path}[]`)),
      ),
    ];
  }
  if (schema.type !== 'object') return [...gaps, `${path} is an object, but not in the definition.`];
  return [...gaps, ...objectGaps(checker, objects, schema, path)];
}

function objectGaps(checker: ts.TypeChecker, objects: readonly ts.Type[], schema: Schema, path: string): string[] {
  const gaps: string[] = [];
  const { properties = {}, required = [], additionalProperties } = schema;
  const written = new Set<string>();
  for (const object of objects) {
    const values = object.getStringIndexType();
    if (values && !isOpen(schema)) {
      if (typeof additionalProperties !== 'object') gaps.push(`${path} has any keys, but the definition drops them.`);
      else gaps.push(...definitionGaps(checker, values, additionalProperties, `${path}.*`));
    }
    const fields = new Map(checker.getPropertiesOfType(object).map((field) => [field.name, field]));
    for (const [name, field] of fields) {
      written.add(name);
      const inner = properties[name];
      if (inner) gaps.push(...definitionGaps(checker, checker.getTypeOfSymbol(field), inner, `${path}.${name}`));
      else if (!isOpen(schema)) gaps.push(`${path}.${name} is written, but the definition drops it.`);
    }
    for (const name of required) {
      const field = fields.get(name);
      if (!field || field.flags & ts.SymbolFlags.Optional)
        gaps.push(`${path}.${name} may be missing, but the definition requires it.`);
    }
  }
  for (const name of Object.keys(properties))
    if (!written.has(name)) gaps.push(`${path}.${name} is in the definition, but never written.`);
  return [...new Set(gaps)];
}

function valueGaps(parts: readonly ts.Type[], schema: Schema, path: string): string[] {
  const allowed = new Set(parts.flatMap(jsonTypesOf));
  if (isOpen(schema) && schema.type === undefined) return [];
  const gaps = allowed.has(schema.type ?? '') ? [] : [`${path} is of another type than in the definition.`];
  if (!schema.enum) return gaps;
  const values = parts.map((part) => (part.isLiteral() ? part.value : undefined));
  if (values.includes(undefined)) return [...gaps, `${path} has any value, but the definition lists some.`];
  const missing = values.filter((value) => !schema.enum?.includes(value));
  return [...gaps, ...missing.map((value) => `${path} may be ${String(value)}, but the definition refuses that.`)];
}

function jsonTypesOf({ flags }: ts.Type): readonly string[] {
  if (flags & ts.TypeFlags.StringLike) return ['string'];
  if (flags & ts.TypeFlags.NumberLike) return ['integer', 'number'];
  return flags & ts.TypeFlags.BooleanLike ? ['boolean'] : [];
}

/** The members of a union but for undefined and null. */
function partsOf(type: ts.Type): { readonly parts: readonly ts.Type[]; readonly isNullable: boolean } {
  const all = type.isUnion() ? type.types : [type];
  const is = (flag: ts.TypeFlags) => (one: ts.Type) => (one.flags & flag) !== 0;
  return {
    parts: all.filter((one) => !is(ts.TypeFlags.Undefined | ts.TypeFlags.Null)(one)),
    isNullable: all.some(is(ts.TypeFlags.Null)),
  };
}

const isOpen = (schema: Schema): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true;
