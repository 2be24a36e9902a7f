import { isJsonObject, type JsonObject, MatrixError, parseSignedJsonObject } from '@headgate/matrix-protocol';
import { KEYS_LIMIT_BYTES, type MatrixRequest, oneTimeKeysIn } from '@headgate/homeserver-contracts';

export interface KeysUpload {
  identity?: JsonObject;
  oneTime: JsonObject;
  fallback: JsonObject;
}

/** The keys in an upload. Its bound has checked the owner. @throws MatrixError M_BAD_JSON */
export async function readKeysUpload(request: MatrixRequest): Promise<KeysUpload> {
  const body = parseSignedJsonObject(await request.bytes(KEYS_LIMIT_BYTES), { optional: true });
  const { device_keys: identity } = body;
  const oneTime = oneTimeKeysIn(body);
  const fallback = oneTimeKeysIn({ one_time_keys: body.fallback_keys });
  for (const [name, key] of [...Object.entries(oneTime), ...Object.entries(fallback)]) {
    if (!isKey(key)) throw MatrixError.badJson(`${name} must be a string, or an object with the string key.`);
  }
  const algorithms = Object.keys(fallback).map((name) => name.slice(0, name.indexOf(':')));
  if (new Set(algorithms).size < algorithms.length)
    throw MatrixError.badJson('An algorithm can have one fallback key only.');
  if (identity === undefined) return { oneTime, fallback };
  return { identity: readIdentity(identity), oneTime, fallback };
}

const isKey = (key: unknown): boolean => typeof key === 'string' || (isJsonObject(key) && typeof key.key === 'string');

function readIdentity(identity: unknown): JsonObject {
  const { algorithms, keys, signatures } = isJsonObject(identity) ? identity : {};
  const isText = (value: unknown) => typeof value === 'string';
  if (!isJsonObject(identity) || !Array.isArray(algorithms) || !algorithms.every(isText)) {
    throw MatrixError.badJson('device_keys.algorithms must be a list of strings.');
  }
  if (!isJsonObject(keys) || !Object.values(keys).every(isText)) {
    throw MatrixError.badJson('device_keys.keys must be an object of strings.');
  }
  if (!isJsonObject(signatures) || !Object.values(signatures).every(isJsonObject)) {
    throw MatrixError.badJson('device_keys.signatures must be an object of objects.');
  }
  return identity;
}
