import { isRoomId, type JsonObject, MatrixError, parseUserId } from '@headgate/matrix-protocol';
import { type MatrixResponse, type MatrixRequest, ok } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { EmbeddedIdentity } from '../accounts/embedded-identity.js';
import { Handlers } from '../handlers.js';
import { signedJson } from '../request-json.js';
import { Aliases } from './aliases.js';
import { CreateRoom } from './create-room.js';
import { RoomRules } from './room-rules.js';
import { clientEvent, type Viewer } from './events.js';
import { Rooms } from './rooms.js';

/** Creating, joining and leaving rooms, and reading their state and events. */
@Injectable()
export class RoomHandlers extends Handlers {
  constructor(
    private readonly rooms: Rooms,
    private readonly rules: RoomRules,
    private readonly aliases: Aliases,
    private readonly createRoom: CreateRoom,
    private readonly identity: EmbeddedIdentity,
  ) {
    super();
  }

  override readonly handlers = {
    createRoom: async (request: MatrixRequest) => {
      const { userId } = this.identity.require(request);
      return ok({ room_id: this.createRoom.run(userId, await signedJson(request, { optional: true })) });
    },
    invite: (request: MatrixRequest) => this.invite(request),
    joinRoom: (request: MatrixRequest) => this.join(request, request.param('roomId')),
    joinByName: (request: MatrixRequest) => this.join(request, this.roomNamed(request.param('roomIdOrAlias'))),
    leaveRoom: (request: MatrixRequest) => this.leave(request),
    joinedRooms: (request: MatrixRequest) => {
      const { userId } = this.identity.require(request);
      return ok({ joined_rooms: this.rooms.roomsOf(userId, 'join') });
    },
    joinedMembers: (request: MatrixRequest) => {
      const { roomId } = this.requireMember(request);
      return ok({ joined: Object.fromEntries(this.rooms.members(roomId).map((userId) => [userId, {}])) });
    },
    getState: (request: MatrixRequest) => {
      const { roomId, viewer } = this.requireMember(request);
      return ok(this.rooms.state(roomId).map((event) => clientEvent(event, viewer)));
    },
    getStateEvent: (request: MatrixRequest) => {
      const { roomId } = this.requireMember(request);
      const content = this.rooms.stateContent(roomId, request.param('eventType'), request.param('stateKey'));
      if (!content) throw MatrixError.notFound('There is no such state.');
      return ok(content);
    },
    getEvent: (request: MatrixRequest) => {
      const { roomId, viewer } = this.requireMember(request);
      const event = this.rooms.event(roomId, request.param('eventId'));
      if (!event) throw MatrixError.notFound('There is no such event.');
      return ok(clientEvent(event, viewer));
    },
    getAliases: (request: MatrixRequest) => ok({ aliases: this.aliases.of(this.requireMember(request).roomId) }),
  };

  private async invite(request: MatrixRequest): Promise<MatrixResponse> {
    const { userId } = this.identity.require(request);
    const { user_id: invited, ...body } = await request.json();
    if (typeof invited !== 'string' || !parseUserId(invited)) {
      throw MatrixError.invalidParam('user_id must be a user ID.');
    }
    const roomId = request.param('roomId');
    this.rules.requireJoined(roomId, userId);
    if (this.rooms.membership(roomId, invited) === 'invite') return ok();
    this.setMembership(roomId, userId, invited, { membership: 'invite', ...reasonIn(body) });
    return ok();
  }

  private async join(request: MatrixRequest, roomId: string): Promise<MatrixResponse> {
    const { userId } = this.identity.require(request);
    const reason = reasonIn(await request.json(undefined, { optional: true }));
    if (!this.rooms.exists(roomId)) throw MatrixError.notFound('There is no such room.');
    if (this.rooms.membership(roomId, userId) !== 'join') {
      this.setMembership(roomId, userId, userId, { membership: 'join', ...reason });
    }
    return ok({ room_id: roomId });
  }

  private async leave(request: MatrixRequest): Promise<MatrixResponse> {
    const { userId } = this.identity.require(request);
    const roomId = request.param('roomId');
    const reason = reasonIn(await request.json(undefined, { optional: true }));
    if (!this.rooms.exists(roomId)) throw MatrixError.notFound('There is no such room.');
    if (this.rooms.membership(roomId, userId) !== 'leave') {
      this.setMembership(roomId, userId, userId, { membership: 'leave', ...reason });
    }
    return ok();
  }

  private setMembership(roomId: string, sender: string, target: string, content: JsonObject): void {
    const event = { roomId, sender, type: 'm.room.member', stateKey: target, content };
    this.rules.check(event);
    this.rooms.append(event);
  }

  private roomNamed(idOrAlias: string): string {
    const roomId = isRoomId(idOrAlias) ? idOrAlias : this.aliases.room(idOrAlias);
    if (roomId === undefined) throw MatrixError.notFound('There is no such room.');
    return roomId;
  }

  private requireMember(request: MatrixRequest): { roomId: string; viewer: Viewer } {
    const viewer = this.identity.require(request);
    const roomId = request.param('roomId');
    this.rules.requireJoined(roomId, viewer.userId);
    return { roomId, viewer };
  }
}

function reasonIn({ reason }: JsonObject): JsonObject {
  if (reason !== undefined && typeof reason !== 'string') throw MatrixError.badJson('reason must be a string.');
  return reason === undefined ? {} : { reason };
}
