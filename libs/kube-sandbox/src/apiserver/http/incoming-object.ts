import { apiError, badRequest, type ApiError } from '../api-error.js';
import { deepCopy } from '../deep-copy.js';
import { apiVersionOf, type KubeObject } from '../kube-object.js';
import { isObject } from '../patch/merge-patch.js';
import type { ServedResource } from '../resource-registry.js';
import { rootSchema } from '../schema/object-meta-schema.js';
import { prune } from '../schema/prune.js';
import { toStored } from './served-form.js';
import type { FieldValidation } from './write-options.js';

/**
 * Reads a client's object: checks its kind, prunes unknown fields and converts it to the storage version.
 * @returns the draft and the paths of unknown fields
 * @throws ApiError 400
 */
export function readIncoming(body: unknown, served: ServedResource): { draft: KubeObject; unknown: string[] } {
  const { definition, version } = served;
  const apiVersion = apiVersionOf(definition.group, version.name);
  if (!isObject(body))
    throw badRequest(
      `the object provided is unrecognized (must be of type ${definition.kind}): couldn't get version/kind; json parse error: unexpected end of JSON input`,
    );
  // For built-in kinds, clients may omit the kind because the path determines it.
  const given = definition.builtIn ? { apiVersion, kind: definition.kind, ...body } : body;
  if (given['kind'] !== definition.kind || given['apiVersion'] !== apiVersion)
    throw wrongKind(given, apiVersion, definition.kind);
  const metadata = isObject(given['metadata']) ? withoutNulls(given['metadata']) : {};
  const object = { ...given, metadata: { name: '', ...metadata } } as unknown as KubeObject;
  const copy = deepCopy(object);
  const unknown = prune(copy, rootSchema(version.schema));
  return { draft: toStored(copy, served), unknown };
}

function wrongKind(given: Record<string, unknown>, apiVersion: string, kind: string): ApiError {
  const found = `${String(given['apiVersion'] ?? '')}, Kind=${String(given['kind'] ?? '')}`;
  if (!given['kind']) return badRequest("Object 'Kind' is missing in the request body");
  return badRequest(
    `the API version in the data (${found}) does not match the expected API version (${apiVersion}, Kind=${kind})`,
  );
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
