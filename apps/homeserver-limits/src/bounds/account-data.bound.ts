import { isRoomId, MatrixError } from '@headgate/matrix-protocol';
import type { Holdings } from '../homeserver/holdings.port.js';
import type { Identity } from '../homeserver/identity.port.js';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { Bound, type Next } from './bound.js';
import type { Caps } from './caps.js';
import { requireOwnUser } from './require-own-user.js';

/** Types that the server keeps by itself and that nobody writes through this endpoint. */
const SERVER_OWNED_TYPES: readonly string[] = ['m.fully_read', 'm.push_rules'];

/** The scope of account data that belongs to no room. */
export const GLOBAL_SCOPE = '';

export class AccountDataBound extends Bound {
  constructor(
    private readonly identity: Identity,
    private readonly caps: Caps,
    private readonly holdings: Holdings,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    const caller = await this.identity.callerOf(request);
    requireOwnUser(caller, request);
    const type = writableType(request);
    const scope = scopeOf(request);
    await request.json();
    const rewrite = await this.holdings.hasAccountData(caller, scope, type, request);
    const write = { holder: caller.userId, rewrite, id: JSON.stringify([scope, type]) };
    const count = () => this.holdings.accountData(caller, request);
    return this.caps.run(this.caps.accountData, write, count, next);
  }
}

/** The room in the path, or everything. @throws MatrixError M_INVALID_PARAM for what is no room id */
export function scopeOf(request: MatrixRequest): string {
  const { roomId } = request.params;
  if (roomId === undefined) return GLOBAL_SCOPE;
  if (!isRoomId(roomId)) throw MatrixError.invalidParam('This is no room id.');
  return roomId;
}

/** @throws MatrixError 405 M_BAD_JSON for a type that the server owns */
export function writableType(request: MatrixRequest): string {
  const type = request.param('type');
  if (SERVER_OWNED_TYPES.includes(type)) throw new MatrixError(405, 'M_BAD_JSON', `${type} is written by the server.`);
  return type;
}
