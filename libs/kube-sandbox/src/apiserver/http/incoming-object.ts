import { apiError, badRequest, fieldInvalid, invalid, type ApiError } from '../api-error.js';
import { deepCopy } from '../deep-copy.js';
import { apiVersionOf, parseApiVersion, type KubeObject } from '../kube-object.js';
import { isObject } from '../patch/merge-patch.js';
import type { ResourceDefinition } from '../resource-definition.js';
import type { ServedResource } from '../resource-registry.js';
import { rootSchema } from '../schema/object-meta-schema.js';
import { prune } from '../schema/prune.js';
import { toStored } from './served-form.js';
import type { FieldValidation } from './write-options.js';

/** Whether the server itself has a kind, so that its Go types include it. */
export type IsBuiltInKind = (kind: { apiVersion: string; kind: string }) => boolean;

/**
 * Reads a client's object: checks its kind, prunes unknown fields and converts it to the storage version.
 * @returns the draft and the paths of unknown fields
 * @throws ApiError 400, 422
 */
export function readIncoming(
  body: unknown,
  served: ServedResource,
  isBuiltInKind: IsBuiltInKind = () => false,
): { draft: KubeObject; unknown: string[] } {
  const { definition, version } = served;
  const apiVersion = apiVersionOf(definition.group, version.name);
  if (!isObject(body))
    throw badRequest(
      `the object provided is unrecognized (must be of type ${definition.kind}): couldn't get version/kind; json parse error: unexpected end of JSON input`,
    );
  // For built-in kinds, clients may omit the kind because the path determines it.
  const given = definition.builtIn ? { apiVersion, kind: definition.kind, ...body } : body;
  if (given['kind'] !== definition.kind || given['apiVersion'] !== apiVersion)
    throw wrongKind(given, served, isBuiltInKind);
  const metadata = isObject(given['metadata']) ? withoutNulls(given['metadata']) : {};
  const object = { ...given, metadata: { name: '', ...metadata } } as unknown as KubeObject;
  const copy = deepCopy(object);
  const unknown = prune(copy, rootSchema(version.schema));
  return { draft: toStored(copy, served), unknown };
}

function wrongKind(given: Record<string, unknown>, served: ServedResource, isBuiltInKind: IsBuiltInKind): ApiError {
  const { definition, version } = served;
  if (!given['kind']) return badRequest("Object 'Kind' is missing in the request body");
  const [kind, apiVersion] = [String(given['kind']), String(given['apiVersion'] ?? '')];
  if (definition.builtIn) return unconvertible({ apiVersion, kind }, definition, isBuiltInKind);
  const expected = apiVersionOf(definition.group, version.name);
  if (apiVersion !== expected) {
    return badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  const { name = '' } = isObject(given['metadata']) ? given['metadata'] : {};
  return invalid(definition.kind, definition.group, String(name), [
    fieldInvalid('kind', kind, `must be ${definition.kind}`),
  ]);
}

/** The name of a Go package: that of a version, or that of a group for the types of the server itself. */
const packageOf = (group: string): string => group.split('.')[0] || 'core';

function unconvertible(
  given: { apiVersion: string; kind: string },
  { group, kind }: ResourceDefinition,
  isBuiltInKind: IsBuiltInKind,
): ApiError {
  const { version } = parseApiVersion(given.apiVersion);
  const why = isBuiltInKind(given)
    ? `converting (${version}.${given.kind}) to (${packageOf(group)}.${kind}): unknown conversion`
    : `no kind "${given.kind}" is registered for version "${given.apiVersion}" in scheme "pkg/api/legacyscheme/scheme.go:30"`;
  return badRequest(`${given.kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}

/** Go marshals an unset time as null; null metadata means no metadata. */
function withoutNulls(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** Handles unknown fields according to fieldValidation. @returns warnings @throws ApiError 400 */
export function checkUnknownFields(
  unknown: string[],
  validation: FieldValidation,
  { definition, version }: ServedResource,
): string[] {
  if (unknown.length === 0 || validation === 'Ignore') return [];
  const lines = unknown.map((path) => `unknown field "${path}"`);
  if (validation === 'Warn') return lines;
  throw badRequest(
    `${definition.kind} in version "${version.name}" cannot be handled as a ${definition.kind}: strict decoding error: ${lines.join(', ')}`,
  );
}

/** Server-side apply must not drop unknown fields. */
export function unknownInApply(
  unknown: string[],
  { metadata }: KubeObject,
  { definition, version }: ServedResource,
): ApiError {
  const about = `${metadata.namespace ? `${metadata.namespace}/` : ''}${metadata.name}; ${apiVersionOf(definition.group, version.name)}, Kind=${definition.kind}`;
  return apiError(
    500,
    undefined,
    `failed to create typed patch object (${about}): ${unknown.map((path) => `.${path}: field not declared in schema`).join(', ')}`,
  );
}
