import { badRequest, fieldInvalid, invalid, unsupportedMediaType, type ApiError } from '../api-error.js';
import { serverSideApply } from '../apply/server-side-apply.js';
import type { SandboxClock } from '../clock.js';
import { apiVersionOf, type KubeObject } from '../kube-object.js';
import { applyJsonPatch } from '../patch/json-patch.js';
import { applyMergePatch, isObject } from '../patch/merge-patch.js';
import { JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, patchTypesOf } from '../patch/patch-types.js';
import { applyStrategicMergePatch } from '../patch/strategic-merge-patch.js';
import type { ServedResource } from '../resource-registry.js';
import { rootSchema } from '../schema/object-meta-schema.js';
import { goDecodeError } from './go-decode-error.js';
import { checkUnknownFields, readIncoming, unknownInApply } from './incoming-object.js';
import { decodeJson, decodeYaml } from './request-body.js';
import { toServed } from './served-form.js';
import type { WriteRequestOptions } from './write-options.js';

/** @throws ApiError 415 */
export function checkPatchType(type: string, served: Pick<ServedResource, 'definition'>): void {
  if (!patchTypesOf(served).includes(type)) throw unsupportedMediaType(patchTypesOf(served));
}

/**
 * Applies a JSON, merge or strategic merge patch to a live object.
 * @returns the changed draft in the storage version, and warnings
 * @throws ApiError 400, 422
 */
export function patchObject(
  live: KubeObject,
  type: string,
  body: Buffer,
  served: ServedResource,
  options: WriteRequestOptions,
): { draft: KubeObject; warnings: string[] } {
  const target = toServed(live, served);
  const patch = decodeJson(body);
  const patched = transform(target, type, patch, served);
  if (!isObject(patched) || !isObject(patched['metadata'])) throw badRequest('the patch leaves no object');
  const { draft, unknown } = readIncoming(patched, served);
  const value = type === STRATEGIC_MERGE_PATCH ? goMap(patch) : JSON.stringify(sorted(patched));
  const error = goDecodeError(draft, served);
  if (error) throw invalidPatch(value, error);
  if (unknown.length > 0 && options.fieldValidation === 'Strict') {
    const lines = unknown.map((path) => `unknown field "${path}"`).join(', ');
    throw invalidPatch(value, `strict decoding error: ${lines}`);
  }
  return { draft, warnings: checkUnknownFields(unknown, options.fieldValidation, served) };
}

/** 422: the patched object can't be decoded. `value` is the object, or the strategic merge patch. */
const invalidPatch = (value: string, why: string): ApiError => invalid('', '', '', [fieldInvalid('patch', value, why)]);

/** Go writes the keys of objects in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([key, field]) => [key, sorted(field)]));
}

/** A value as Go's `%+v` prints it. */
function goMap(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goMap).join(' ')}]`;
  if (!isObject(value)) return String(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${fields.map(([key, field]) => `${key}:${goMap(field)}`).join(' ')}]`;
}

function transform(target: KubeObject, type: string, patch: unknown, { version }: ServedResource): unknown {
  if (type === JSON_PATCH) return applyJsonPatch(target, patch);
  if (!isObject(patch)) throw badRequest('json: cannot unmarshal array into Go value of type map[string]interface {}');
  return type === MERGE_PATCH
    ? applyMergePatch(target, patch)
    : applyStrategicMergePatch(target, patch, rootSchema(version.schema));
}

export interface ApplyOptions extends WriteRequestOptions {
  subresource?: string;
  /** Top-level fields that this endpoint does not write. */
  skip: readonly string[];
  /** The name and namespace in the URL. */
  key: { namespace?: string; name: string };
}

/**
 * Applies a configuration to a live object, or creates the object (server-side apply).
 * @throws ApiError 400, 409
 */
export function applyObject(
  live: KubeObject | undefined,
  body: Buffer,
  served: ServedResource,
  clock: SandboxClock,
  options: ApplyOptions,
): KubeObject {
  const configuration = decodeYaml(body);
  if (!isObject(configuration)) throw badRequest('error decoding YAML: the apply configuration is no object');
  const metadata = isObject(configuration['metadata']) ? configuration['metadata'] : {};
  if (metadata['managedFields']) throw badRequest('metadata.managedFields must be nil');
  const { draft, unknown } = readIncoming({ ...configuration, metadata: { ...metadata, ...options.key } }, served);
  if (metadata['name'] !== undefined && metadata['name'] !== options.key.name) {
    throw badRequest(
      `the name of the object (${String(metadata['name'])}) does not match the name on the URL (${options.key.name})`,
    );
  }
  if (unknown.length > 0) throw unknownInApply(unknown, draft, served);
  return serverSideApply({
    configuration: draft,
    live,
    schema: rootSchema(served.version.schema),
    manager: {
      name: options.fieldManager,
      operation: 'Apply',
      apiVersion: apiVersionOf(served.definition.group, served.version.name),
      ...(options.subresource && { subresource: options.subresource }),
    },
    force: options.force,
    time: clock.timestamp(),
    skip: options.skip,
  });
}
