import { MatrixError } from '@headgate/matrix-protocol';
import {
  type MatrixResponse,
  CallCredentials,
  type MatrixRequest,
  ok,
  readSfuRequest,
} from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { EmbeddedOptions } from '../embedded-options.js';
import { EmbeddedIdentity } from '../accounts/embedded-identity.js';
import { Clock } from '@headgate/clock';
import { Handlers } from '../handlers.js';
import { ownUser } from '../own-user.js';
import { Rooms } from '../rooms/rooms.js';
import { OPENID_LIFETIME_S, OpenIdTokens } from '../accounts/openid-tokens.js';

/** OpenID tokens, and the call credentials that they authorize. */
@Injectable()
export class RtcHandlers extends Handlers {
  constructor(
    private readonly options: EmbeddedOptions,
    private readonly tokens: OpenIdTokens,
    private readonly rooms: Rooms,
    private readonly identity: EmbeddedIdentity,
    private readonly clock: Clock,
  ) {
    super();
  }

  override readonly handlers = {
    openIdToken: (request: MatrixRequest) => this.openIdToken(request),
    openIdUserInfo: (request: MatrixRequest) => this.userInfo(request),
    sfuCredential: (request: MatrixRequest) => this.sfuCredential(request),
  };

  private openIdToken(request: MatrixRequest): MatrixResponse {
    const userId = ownUser(this.identity, request);
    return ok({
      access_token: this.tokens.mint(userId),
      token_type: 'Bearer',
      matrix_server_name: this.options.serverName,
      expires_in: OPENID_LIFETIME_S,
    });
  }

  private userInfo(request: MatrixRequest): MatrixResponse {
    const token = request.query.get('access_token');
    if (!token) throw MatrixError.missingToken();
    const userId = this.tokens.userOf(token);
    if (userId === undefined) throw MatrixError.unknownToken();
    return ok({ sub: userId });
  }

  private async sfuCredential(request: MatrixRequest): Promise<MatrixResponse> {
    const credentials = CallCredentials.of(this.options.callService, () => this.clock.now());
    if (!credentials) throw MatrixError.unrecognized();
    const { roomId, deviceId, serverName, openIdToken } = readSfuRequest(await request.json());
    const userId = await this.identity.openIdUser(serverName, openIdToken);
    if (userId === undefined) throw MatrixError.unknownToken();
    if (this.rooms.membership(roomId, userId) !== 'join')
      throw MatrixError.forbidden('You are not a member of this room.');
    return credentials.respond({ userId, deviceId, roomId });
  }
}
