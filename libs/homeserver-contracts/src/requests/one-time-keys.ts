import { isJsonObject, type JsonObject, MatrixError } from '@headgate/matrix-protocol';

export const deviceHolder = (userId: string, deviceId: string): string => `${userId} ${deviceId}`;

/**
 * The one-time keys in an upload.
 * @throws MatrixError M_BAD_JSON when they are not an object, or an ID has no algorithm
 */
export function oneTimeKeysIn({ one_time_keys }: JsonObject): JsonObject {
  const keys = one_time_keys ?? {};
  if (!isJsonObject(keys)) throw MatrixError.badJson('one_time_keys must be an object.');
  const nameless = Object.keys(keys).find((id) => !/^[^:]+:./.test(id));
  if (nameless !== undefined) throw MatrixError.badJson('The name of a one-time key must be algorithm:id.');
  return keys;
}
