import { badRequest, fieldForbidden, fieldInvalid, type StatusCause } from '../api-error.js';
import { deepEqual } from '../deep-copy.js';
import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';
import { boolean, mapOf, object, string } from '../schema/schema-builders.js';
import { builtIn } from './built-in.js';
import { ageColumn, column } from './column.js';

interface Data extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  stringData?: Record<string, string>;
  type?: string;
  immutable?: boolean;
}

const keyCount = ({ data = {}, binaryData = {} }: Data): number =>
  Object.keys(data).length + Object.keys(binaryData).length;

function validateImmutable(object: KubeObject, previous: KubeObject | undefined): StatusCause[] {
  const [after, before] = [object as Data, previous as Data | undefined];
  const changed = before?.immutable && !deepEqual([after.data, after.binaryData], [before.data, before.binaryData]);
  return changed ? [fieldForbidden('data', 'field is immutable when `immutable` is set')] : [];
}

const KEY = /^[-._a-zA-Z0-9]+$/;
const NOT_A_KEY =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

const validateKeys = (object: KubeObject): StatusCause[] =>
  (['data', 'binaryData'] as const).flatMap((field) =>
    Object.keys((object as Data)[field] ?? {}).flatMap((key) =>
      KEY.test(key) ? [] : [fieldInvalid(`${field}[${key}]`, key, NOT_A_KEY)],
    ),
  );

export const configMaps: ResourceDefinition = builtIn({
  kind: 'ConfigMap',
  shortNames: ['cm'],
  schema: object(
    { data: mapOf(string()), binaryData: mapOf(string()), immutable: boolean() },
    [],
    'Configuration data as keys and values.',
  ),
  strategy: {
    validate: (object, previous) => [...validateKeys(object), ...validateImmutable(object, previous)],
  },
  columns: [column<Data>('Data', keyCount), ageColumn],
});

const MAX_SECRET_BYTES = 1024 * 1024;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function encodeStringData(draft: KubeObject): void {
  const secret = draft as Data;
  if (secret.stringData) {
    const encoded = Object.entries(secret.stringData).map(([key, value]) => [
      key,
      Buffer.from(value).toString('base64'),
    ]);
    secret.data = { ...secret.data, ...(Object.fromEntries(encoded) as Record<string, string>) };
    delete secret.stringData;
  }
  secret.type ??= 'Opaque';
}

/** @throws ApiError 400 for data that is not base64 */
function validateSecret(object: KubeObject, previous: KubeObject | undefined): StatusCause[] {
  const { data = {}, type } = object as Data;
  const size = Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value, 'base64'), 0);
  const causes: StatusCause[] = [];
  // A real server can't even decode such an object.
  const illegal = Object.values(data).find((value) => !BASE64.test(value));
  if (illegal !== undefined) {
    const at = Math.max(0, illegal.search(/[^A-Za-z0-9+/]/));
    throw badRequest(`Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte ${at}`);
  }
  if (size > MAX_SECRET_BYTES)
    causes.push({
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${MAX_SECRET_BYTES} bytes`,
      field: 'data',
    });
  if (previous && (previous as Data).type !== type) causes.push(fieldInvalid('type', type, 'field is immutable'));
  return [...causes, ...validateImmutable(object, previous)];
}

export const secrets: ResourceDefinition = builtIn({
  kind: 'Secret',
  schema: object(
    { data: mapOf(string()), stringData: mapOf(string()), type: string(), immutable: boolean() },
    [],
    'Secret data as keys and base64-encoded values.',
  ),
  strategy: { prepareForCreate: encodeStringData, prepareForUpdate: encodeStringData, validate: validateSecret },
  selectableFields: { type: (object) => (object as Data).type ?? '' },
  columns: [column<Data>('Type', ({ type }) => type ?? 'Opaque'), column<Data>('Data', keyCount), ageColumn],
});
