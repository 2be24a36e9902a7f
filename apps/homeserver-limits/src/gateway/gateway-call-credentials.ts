import {
  type CallCredentials,
  type Identity,
  type MatrixRequest,
  type MatrixResponse,
  readSfuRequest,
} from '@headgate/homeserver-contracts';
import { MatrixError } from '@headgate/matrix-protocol';
import type { Registration } from './registration.js';
import { queryFailure, type UpstreamQueries } from './upstream-queries.js';

export interface GatewayCallCredentialsDeps {
  identity: Identity;
  upstream: UpstreamQueries;
  /** An application service that may act as the users of this server. */
  service: Registration;
  credentials: CallCredentials;
}

/**
 * The endpoint of the media service, served by the gateway. An OpenID token proves who the user is but gives no access to the
 * homeserver, so an application service that may act as the user looks up the membership.
 */
export class GatewayCallCredentials {
  constructor(private readonly deps: GatewayCallCredentialsDeps) {}

  async handle(request: MatrixRequest): Promise<MatrixResponse> {
    const { roomId, deviceId, serverName, openIdToken } = readSfuRequest(await request.json());
    const userId = await this.deps.identity.openIdUser(serverName, openIdToken);
    if (userId === undefined) throw MatrixError.unknownToken();
    if (!(await this.isMember(userId, roomId))) throw MatrixError.forbidden('You are not a member of this room.');
    return this.deps.credentials.respond({ userId, deviceId, roomId });
  }

  private async isMember(userId: string, roomId: string): Promise<boolean> {
    const { service, upstream } = this.deps;
    // The homeserver would respond with 403 here, too, and hide that the registration is the cause.
    if (!service.users.some((users) => users.test(userId))) throw cannotCheck(userId);
    const user = encodeURIComponent(userId);
    const path = `/_matrix/client/v3/rooms/${encodeURIComponent(roomId)}/state/m.room.member/${user}?user_id=${user}`;
    const result = await upstream.get(path, service.token);
    if (result.status === 403 || result.status === 404) return false;
    // A 401 is about the application service's token, not about the caller's.
    if (result.status !== 200 || !result.body) {
      throw cannotCheck(userId, queryFailure(result, 'The homeserver did not return the membership.'));
    }
    return result.body.membership === 'join';
  }
}

const cannotCheck = (userId: string, cause?: unknown): MatrixError =>
  new MatrixError(502, 'M_UNKNOWN', 'The homeserver cannot be asked for members of rooms.', {
    cause: cause ?? new Error(`rtc.registration does not include ${userId} in its namespaces`),
  });
