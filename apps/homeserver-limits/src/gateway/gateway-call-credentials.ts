import {
  type CallCredentials,
  type Identity,
  LeastRecentlyUsed,
  type MatrixRequest,
  type MatrixResponse,
  readSfuRequest,
} from '@headgate/homeserver-contracts';
import { MatrixError, parseUserId } from '@headgate/matrix-protocol';
import type { Registration } from './registration.js';
import { queryFailure, type UpstreamQueries } from './upstream-queries.js';

export interface GatewayCallCredentialsDeps {
  identity: Identity;
  upstream: UpstreamQueries;
  /** An application service that may act as the users of this server. */
  service: Registration;
  credentials: CallCredentials;
  /** The name of the homeserver. */
  serverName: string;
}

/** Rooms whose last local member is remembered. */
const MAX_ROOMS = 100_000;

/**
 * The endpoint of the media service, served by the gateway. An OpenID token proves who the user is but gives no access
 * to the homeserver, so an application service that may act as the user looks up the membership. It can't act as the
 * users of other servers: their memberships are looked up as a local member of the room, which the gateway knows from
 * an earlier request.
 */
export class GatewayCallCredentials {
  private readonly localMembers = new LeastRecentlyUsed<string, string>(MAX_ROOMS);

  constructor(private readonly deps: GatewayCallCredentialsDeps) {}

  async handle(request: MatrixRequest): Promise<MatrixResponse> {
    const { roomId, deviceId, serverName, openIdToken } = readSfuRequest(await request.json());
    const userId = await this.deps.identity.openIdUser(serverName, openIdToken, request);
    if (userId === undefined) throw MatrixError.unknownToken();
    if (!(await this.isMember(request, userId, roomId)))
      throw MatrixError.forbidden('You are not a member of this room.');
    return this.deps.credentials.respond({ userId, deviceId, roomId });
  }

  private isMember(request: MatrixRequest, userId: string, roomId: string): Promise<boolean> {
    const isLocal = parseUserId(userId)?.server === this.deps.serverName;
    return isLocal ? this.isLocalMember(request, userId, roomId) : this.isRemoteMember(request, userId, roomId);
  }

  private async isLocalMember(request: MatrixRequest, userId: string, roomId: string): Promise<boolean> {
    // The homeserver would respond with 403 here, too, and hide that the registration is the cause.
    if (!this.deps.service.users.some((users) => users.test(userId))) throw cannotCheck(userId);
    const hasJoined = (await this.membershipOf(request, userId, roomId, userId)) === 'join';
    if (hasJoined) this.localMembers.set(roomId, userId);
    else if (this.localMembers.get(roomId) === userId) this.localMembers.delete(roomId);
    return hasJoined;
  }

  /**
   * Without a local member who has asked before, the service's own user is asked, which may have been invited to the
   * room.
   */
  private async isRemoteMember(request: MatrixRequest, userId: string, roomId: string): Promise<boolean> {
    for (const witness of [this.localMembers.get(roomId), this.deps.service.senderUserId]) {
      if (witness === undefined) continue;
      const membership = await this.membershipOf(request, userId, roomId, witness);
      if (membership !== undefined) return membership === 'join';
    }
    return false;
  }

  /** A member's state as another user sees it; undefined if that user may not see it, or there is none. */
  private async membershipOf(
    request: MatrixRequest,
    userId: string,
    roomId: string,
    actingUserId: string,
  ): Promise<unknown> {
    const { service, upstream } = this.deps;
    const [user, acting] = [userId, actingUserId].map(encodeURIComponent);
    const path = `/_matrix/client/v3/rooms/${encodeURIComponent(roomId)}/state/m.room.member/${user}?user_id=${acting}`;
    const result = await upstream.get(request, path, service.token);
    if (result.status === 403 || result.status === 404) return undefined;
    // A 401 is about the application service's token, not about the caller's.
    if (result.status !== 200 || !result.body) {
      throw cannotCheck(userId, queryFailure(result, 'The homeserver did not return the membership.'));
    }
    return result.body.membership;
  }
}

const cannotCheck = (userId: string, cause?: unknown): MatrixError =>
  new MatrixError(502, 'M_UNKNOWN', 'The homeserver cannot be asked for members of rooms.', {
    cause: cause ?? new Error(`rtc.registration does not include ${userId} in its namespaces`),
  });
