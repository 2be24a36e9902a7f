import { isJsonObject, isRoomId, isServerName, type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import type { Identity } from '../homeserver/identity.port.js';
import type { Answer } from '../wire/answer.js';
import type { MatrixRequest } from '../wire/matrix-request.js';
import { Bound, type Next } from './bound.js';
import { exactMembers } from './exact-members.js';
import type { Rates } from './rates.js';

const SFU_LIMIT_BYTES = 64 * 1024;

export interface SfuRequest {
  roomId: string;
  deviceId: string;
  serverName: string;
  openIdToken: string;
}

/** Credentials for the media service: a request with a live OpenID token counts, before anybody looks at the room. */
export class SfuCredentialBound extends Bound {
  constructor(
    private readonly identity: Identity,
    private readonly rates: Rates,
    /** False: there is no such service here, and its path does not exist. */
    private readonly available: boolean,
  ) {
    super();
  }

  override async run(request: MatrixRequest, next: Next): Promise<Answer> {
    if (!this.available) throw MatrixError.unrecognized();
    const { serverName, openIdToken } = readSfuRequest(await request.json(SFU_LIMIT_BYTES));
    const userId = await this.identity.openIdUser(serverName, openIdToken);
    if (userId === undefined) throw MatrixError.unknownToken();
    await this.rates.count(this.rates.sfuCredential, userId);
    return next();
  }
}

/** The members of both shapes that call clients send. @throws MatrixError M_BAD_JSON */
export function readSfuRequest(body: JsonObject): SfuRequest {
  exactMembers(body, ['openid_token']);
  const roomId = body.room ?? body.room_id;
  const member = isJsonObject(body.member) ? body.member : {};
  const deviceId = body.device_id ?? member.claimed_device_id;
  const token = isJsonObject(body.openid_token) ? body.openid_token : {};
  exactMembers(token, ['access_token', 'matrix_server_name']);
  if (!isRoomId(roomId)) throw MatrixError.badJson('room must be a room id.');
  if (typeof deviceId !== 'string' || deviceId === '') throw MatrixError.badJson('device_id must be a string.');
  if (typeof token.access_token !== 'string') throw MatrixError.badJson('openid_token.access_token must be a string.');
  if (!isServerName(token.matrix_server_name)) {
    throw MatrixError.badJson('openid_token.matrix_server_name must be a server name.');
  }
  return { roomId, deviceId, serverName: token.matrix_server_name, openIdToken: token.access_token };
}
