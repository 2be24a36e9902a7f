import { randomBytes } from 'node:crypto';
import { type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import { Injectable } from '@nestjs/common';
import { EmbeddedOptions } from '../embedded-options.js';
import { Database } from '../database.js';
import { Aliases } from './aliases.js';
import { readRoomRequest, ROOM_VERSION, type RoomRequest, type StateToSet } from './room-request.js';
import { RoomRules } from './room-rules.js';
import { Rooms } from './rooms.js';

/** Creates a room with everything that the request contains, or not at all. */
@Injectable()
export class CreateRoom {
  constructor(
    private readonly options: EmbeddedOptions,
    private readonly db: Database,
    private readonly rooms: Rooms,
    private readonly rules: RoomRules,
    private readonly aliases: Aliases,
  ) {}

  /** @returns the room ID. @throws MatrixError */
  run(creator: string, body: JsonObject): string {
    const room = readRoomRequest(body, creator, this.options.serverName);
    const roomId = `!${randomBytes(18).toString('base64url')}:${this.options.serverName}`;
    this.db.transaction(() => this.create(roomId, creator, room));
    return roomId;
  }

  private create(roomId: string, creator: string, { creation, state, alias, invited, direct }: RoomRequest): void {
    this.rooms.create(roomId, creator, ROOM_VERSION);
    this.rooms.append({ roomId, sender: creator, type: 'm.room.create', stateKey: '', content: creation });
    this.rooms.append({ roomId, sender: creator, ...membership(creator, { membership: 'join' }) });
    for (const event of state) this.setInitial(roomId, creator, event);
    if (alias !== undefined && !this.aliases.add(alias, roomId, creator)) {
      throw new MatrixError(400, 'M_ROOM_IN_USE', 'The alias is taken.');
    }
    const invite = { membership: 'invite', ...(direct && { is_direct: true }) };
    for (const userId of invited) this.set(roomId, creator, membership(userId, invite));
  }

  // The request may contradict itself, such as by taking away the power level that a later event of it needs.
  private setInitial(roomId: string, creator: string, state: StateToSet): void {
    try {
      this.set(roomId, creator, state);
    } catch (error) {
      if (!(error instanceof MatrixError) || error.errcode !== 'M_FORBIDDEN') throw error;
      throw new MatrixError(400, 'M_INVALID_ROOM_STATE', `${state.type} cannot be set: ${error.message}`);
    }
  }

  private set(roomId: string, sender: string, state: StateToSet): void {
    const event = { roomId, sender, ...state };
    this.rules.check(event);
    this.rooms.append(event);
  }
}

const membership = (userId: string, content: JsonObject): StateToSet => ({
  type: 'm.room.member',
  stateKey: userId,
  content,
});
