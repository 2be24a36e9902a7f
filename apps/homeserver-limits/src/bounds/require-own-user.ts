import { MatrixError } from '@headgate/matrix-protocol';
import type { Caller, MatrixRequest } from '@headgate/homeserver-contracts';

/** The user in the path must be the caller. @throws MatrixError M_FORBIDDEN */
export function requireOwnUser(caller: Caller, request: MatrixRequest): void {
  if (request.param('userId') !== caller.userId) throw MatrixError.forbidden('This belongs to another user.');
}
