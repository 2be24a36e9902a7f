import { isMarked } from '@headgate/api-contracts';
import { defaultMetadataStorage } from 'class-transformer/esm5/storage.js';
import { getMetadataStorage } from 'class-validator';

export type DtoClass = new () => object;
export type JsonSchema = { [key: string]: unknown };

type Rule = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/** JSON Schemas of DTO classes, from their validators; classes that others name are collected along the way. */
export class JsonSchemas {
  readonly components = new Map<string, JsonSchema>();

  /** A reference to the class's schema. */
  refTo(type: DtoClass): JsonSchema {
    if (!this.components.has(type.name)) {
      this.components.set(type.name, {});
      this.components.set(type.name, this.schemaOf(type));
    }
    return { $ref: `#/components/schemas/${type.name}` };
  }

  /** The class's fields with their schemas. */
  fieldsOf(type: DtoClass): { name: string; required: boolean; schema: JsonSchema }[] {
    const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    const names = [...new Set(rules.map(({ propertyName }) => propertyName))];
    return names.map((name) => ({
      name,
      required: !isMarked('optional', type, name),
      schema: this.fieldSchema(
        type,
        name,
        rules.filter(({ propertyName }) => propertyName === name),
      ),
    }));
  }

  private schemaOf(type: DtoClass): JsonSchema {
    const fields = this.fieldsOf(type);
    return {
      type: 'object',
      properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
      required: fields.filter(({ required }) => required).map(({ name }) => name),
    };
  }

  private fieldSchema(type: DtoClass, name: string, rules: readonly Rule[]): JsonSchema {
    const nested = defaultMetadataStorage.findTypeMetadata(type, name)?.typeFunction() as DtoClass | undefined;
    const isArray = rules.some((rule) => ruleName(rule) === 'isArray');
    const own = Object.assign({}, ...rules.map((rule) => ruleSchema(rule))) as JsonSchema;
    const item = nested && !PLAIN.includes(nested) ? this.refTo(nested) : own;
    const { type: _type, ...rest } = own;
    const schema = isArray ? { ...rest, type: 'array', items: nested ? item : itemSchema(rules) } : item;
    return isMarked('nullable', type, name) && typeof schema['type'] === 'string'
      ? { ...schema, type: [schema['type'], 'null'] }
      : schema;
  }
}

const PLAIN: readonly unknown[] = [String, Number, Boolean, Date];

const ruleName = (rule: Rule): string => rule.name ?? rule.type;

/** What the elements of an array are: the rules that are checked on each of them. */
const itemSchema = (rules: readonly Rule[]): JsonSchema =>
  Object.assign(
    {},
    ...rules.filter(({ each }) => each).map((rule) => ruleSchema({ ...rule, each: false } as Rule)),
  ) as JsonSchema;

function ruleSchema(rule: Rule): JsonSchema {
  if (rule.each) return {};
  const [first] = (rule.constraints ?? []) as unknown[];
  switch (ruleName(rule)) {
    case 'isString':
      return { type: 'string' };
    case 'isNotEmpty':
      return { minLength: 1 };
    case 'isBoolean':
      return { type: 'boolean' };
    case 'isInt':
      return { type: 'integer' };
    case 'isNumber':
      return { type: 'number' };
    case 'isObject':
      return { type: 'object' };
    case 'isIso8601':
      return { type: 'string', format: 'date-time' };
    case 'min':
      return { minimum: first };
    case 'max':
      return { maximum: first };
    case 'maxLength':
      return { maxLength: first };
    case 'arrayUnique':
      return { uniqueItems: true };
    case 'isIn':
      return { type: 'string', enum: first };
    case 'matches':
      return { type: 'string', pattern: (first as RegExp).source };
    case 'isArray':
      return { type: 'array' };
    default:
      // Our own text fields carry their schema as their first constraint.
      return typeof first === 'object' && first !== null && !(first instanceof RegExp)
        ? { type: 'string', ...first }
        : {};
  }
}
