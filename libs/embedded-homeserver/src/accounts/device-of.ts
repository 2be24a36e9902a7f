import { type JsonObject, MatrixError } from '@headgate/matrix-protocol';

const MAX_DEVICE_ID = 512;

/** The device that a login or a registration names. @throws MatrixError M_BAD_JSON, M_INVALID_PARAM */
export function deviceOf(body: JsonObject): { id?: string; displayName?: string } {
  const { device_id: id, initial_device_display_name: displayName } = body;
  if (id !== undefined && typeof id !== 'string') throw MatrixError.badJson('device_id must be a string.');
  if (displayName !== undefined && typeof displayName !== 'string') {
    throw MatrixError.badJson('initial_device_display_name must be a string.');
  }
  if (id !== undefined && (id.length === 0 || id.length > MAX_DEVICE_ID)) {
    throw MatrixError.invalidParam(`device_id must have 1 to ${MAX_DEVICE_ID} characters.`);
  }
  return { ...(id !== undefined && { id }), ...(displayName !== undefined && { displayName }) };
}
