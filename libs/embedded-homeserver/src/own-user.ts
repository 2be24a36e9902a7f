import { MatrixError } from '@headgate/matrix-protocol';
import type { MatrixRequest } from '@headgate/homeserver-contracts';
import type { EmbeddedIdentity } from './accounts/embedded-identity.js';

/** The caller, who has to be the user in the path. @throws MatrixError 401, M_FORBIDDEN */
export function ownUser(identity: EmbeddedIdentity, request: MatrixRequest): string {
  const { userId } = identity.require(request);
  if (request.param('userId') !== userId) throw MatrixError.forbidden('This belongs to another user.');
  return userId;
}
