import { canonicalJson, MatrixError, MAX_EVENT_BYTES, utf8Length } from '@headgate/matrix-protocol';
import { Injectable } from '@nestjs/common';
import { MembershipRules, tooLittlePower } from './membership-rules.js';
import { checkPowerLevels } from './power-level-rules.js';
import { PowerLevels } from './power-levels.js';
import type { NewEvent } from './events.js';
import { Rooms } from './rooms.js';

const MAX_NAME_BYTES = 255;

/** Who may send what into a room: the rules of room version 11, judged by the state that the room has now. */
@Injectable()
export class RoomRules {
  private readonly members: MembershipRules;

  constructor(private readonly rooms: Rooms) {
    this.members = new MembershipRules(rooms, (roomId) => this.levels(roomId));
  }

  /** @throws MatrixError M_FORBIDDEN, M_BAD_JSON, M_TOO_LARGE */
  check(event: NewEvent): void {
    checkSize(event);
    const { roomId, type, stateKey, sender } = event;
    if (type === 'm.room.create' && this.rooms.hasState(roomId, type)) {
      throw MatrixError.forbidden('The room has been created already.');
    }
    if (type === 'm.room.member') return this.members.check(event, required(stateKey));
    this.members.requireJoined(roomId, sender);
    const levels = this.levels(roomId);
    const needed = levels.toSend(type, stateKey !== undefined);
    if (levels.ofUser(sender) < needed) throw tooLittlePower(needed, 'send this');
    if (stateKey?.startsWith('@') && stateKey !== sender) {
      throw MatrixError.forbidden('Only a user sets state under his own id.');
    }
    if (type === 'm.room.power_levels' && stateKey !== undefined) checkPowerLevels(levels, sender, event.content);
  }

  requireJoined(roomId: string, userId: string): void {
    this.members.requireJoined(roomId, userId);
  }

  // While a room is being made, its creator is the only one who can do anything there.
  private levels(roomId: string): PowerLevels {
    const content = this.rooms.stateContent(roomId, 'm.room.power_levels');
    return PowerLevels.of(content, this.rooms.creator(roomId) ?? '');
  }
}

function required(stateKey: string | undefined): string {
  if (stateKey === undefined) throw MatrixError.badJson('A membership is state.');
  return stateKey;
}

/** What no room takes, whoever sends it. @throws MatrixError M_TOO_LARGE; M_BAD_JSON for what has no canonical form */
export function checkSize({ roomId, type, stateKey = '', sender, content }: NewEvent): void {
  const event = { room_id: roomId, type, state_key: stateKey, sender, content };
  if (utf8Length(canonicalJson(event)) > MAX_EVENT_BYTES) {
    throw MatrixError.tooLarge(`An event has at most ${MAX_EVENT_BYTES} bytes.`);
  }
  if (utf8Length(type) > MAX_NAME_BYTES || utf8Length(stateKey) > MAX_NAME_BYTES) {
    throw MatrixError.tooLarge(`A type and a state key have at most ${MAX_NAME_BYTES} bytes each.`);
  }
}
