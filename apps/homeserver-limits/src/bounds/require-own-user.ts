import { MatrixError } from '@headgate/matrix-protocol';
import type { Caller } from '../homeserver/identity.port.js';
import type { MatrixRequest } from '../wire/matrix-request.js';

/** The user in the path must be the caller. @throws MatrixError M_FORBIDDEN */
export function requireOwnUser(caller: Caller, request: MatrixRequest): void {
  if (request.param('userId') !== caller.userId) throw MatrixError.forbidden('This belongs to another user.');
}
