import type { KubeObject } from '../kube-object.js';
import type { ServedResource } from '../resource-registry.js';
import { rootSchema } from '../schema/object-meta-schema.js';
import { typeName, validateSchema } from '../schema/validate-schema.js';

/** Go's names of the types of JSON values. */
const GO_NAMES: Readonly<Record<string, string>> = { integer: 'number', boolean: 'bool' };

/**
 * The error of Go's JSON package for a built-in kind whose Go type can't hold a value; undefined when it can hold all.
 */
export function goDecodeError(object: KubeObject, { definition, version }: ServedResource): string | undefined {
  if (!definition.builtIn || !version.schema || version.toStorage) return undefined;
  const causes = validateSchema(object, rootSchema(version.schema));
  const wrongType = causes.find(({ reason }) => reason === 'FieldValueTypeInvalid');
  if (!wrongType) return undefined;
  const found = /^Invalid value: "(\w+)"/.exec(wrongType.message)?.[1] ?? typeName(undefined);
  const expected = /must be of type ([\w,]+)/.exec(wrongType.message)?.[1] ?? 'string';
  return `json: cannot unmarshal ${GO_NAMES[found] ?? found} into Go struct field ${definition.kind}.${wrongType.field} of type ${expected}`;
}
