import { type JsonObject, parseSignedJsonObject, parseStoredJsonObject } from '@headgate/matrix-protocol';
import { DEFAULT_JSON_LIMIT_BYTES, type MatrixRequest } from '@headgate/homeserver-contracts';

/**
 * A body that becomes part of an event, or is signed by a device.
 * @throws MatrixError for numbers that canonical JSON excludes
 */
export async function signedJson(request: MatrixRequest, options?: { optional?: boolean }): Promise<JsonObject> {
  return parseSignedJsonObject(await request.bytes(DEFAULT_JSON_LIMIT_BYTES), options);
}

/** A body that is stored and returned unchanged. @throws MatrixError for numbers that would be rounded */
export async function storedJson(request: MatrixRequest, options?: { optional?: boolean }): Promise<JsonObject> {
  return parseStoredJsonObject(await request.bytes(DEFAULT_JSON_LIMIT_BYTES), options);
}
