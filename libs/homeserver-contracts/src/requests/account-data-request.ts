import { isRoomId, MatrixError } from '@headgate/matrix-protocol';
import type { MatrixRequest } from '../wire/matrix-request.js';

/** Types that the server maintains and that clients cannot write through this endpoint. */
const SERVER_OWNED_TYPES: readonly string[] = ['m.fully_read', 'm.push_rules'];

/** The scope of global account data. */
export const GLOBAL_SCOPE = '';

/** The room in the path, or the global scope. @throws MatrixError M_INVALID_PARAM for an invalid room ID */
export function scopeOf(request: MatrixRequest): string {
  const { roomId } = request.params;
  if (roomId === undefined) return GLOBAL_SCOPE;
  if (!isRoomId(roomId)) throw MatrixError.invalidParam('The path has no valid room ID.');
  return roomId;
}

/** @throws MatrixError 405 M_BAD_JSON for a type that the server owns */
export function writableType(request: MatrixRequest): string {
  const type = request.param('type');
  if (SERVER_OWNED_TYPES.includes(type))
    throw new MatrixError(405, 'M_BAD_JSON', `${type} is maintained by the server.`);
  return type;
}
