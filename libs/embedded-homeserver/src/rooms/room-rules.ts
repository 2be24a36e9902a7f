import { canonicalJson, MatrixError, MAX_EVENT_BYTES, utf8Length } from '@headgate/matrix-protocol';
import { Injectable } from '@nestjs/common';
import { MembershipRules, insufficientPower } from './membership-rules.js';
import { checkPowerLevels } from './power-level-rules.js';
import { PowerLevels } from './power-levels.js';
import type { NewEvent } from './events.js';
import { Rooms } from './rooms.js';

const MAX_NAME_BYTES = 255;

/** Who may send which events: the rules of room version 11, against the current state of the room. */
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
      throw MatrixError.forbidden('The room already exists.');
    }
    if (type === 'm.room.member') return this.members.check(event, required(stateKey));
    this.members.requireJoined(roomId, sender);
    const levels = this.levels(roomId);
    const needed = levels.toSend(type, stateKey !== undefined);
    if (levels.ofUser(sender) < needed) throw insufficientPower(needed, 'send this');
    if (stateKey?.startsWith('@') && stateKey !== sender) {
      throw MatrixError.forbidden('State with a user ID as its key can only be set by that user.');
    }
    if (type === 'm.room.power_levels' && stateKey !== undefined) checkPowerLevels(levels, sender, event.content);
  }

  requireJoined(roomId: string, userId: string): void {
    this.members.requireJoined(roomId, userId);
  }

  // While a room is being created, only its creator has any power.
  private levels(roomId: string): PowerLevels {
    const content = this.rooms.stateContent(roomId, 'm.room.power_levels');
    return PowerLevels.of(content, this.rooms.creator(roomId) ?? '');
  }
}

function required(stateKey: string | undefined): string {
  if (stateKey === undefined) throw MatrixError.badJson('A membership event needs a state key.');
  return stateKey;
}

/**
 * Checks the size limits of every room.
 * @throws MatrixError M_TOO_LARGE; M_BAD_JSON for content without canonical form
 */
export function checkSize({ roomId, type, stateKey = '', sender, content }: NewEvent): void {
  const event = { room_id: roomId, type, state_key: stateKey, sender, content };
  if (utf8Length(canonicalJson(event)) > MAX_EVENT_BYTES) {
    throw MatrixError.tooLarge(`An event has at most ${MAX_EVENT_BYTES} bytes.`);
  }
  if (utf8Length(type) > MAX_NAME_BYTES || utf8Length(stateKey) > MAX_NAME_BYTES) {
    throw MatrixError.tooLarge(`The type and the state key have at most ${MAX_NAME_BYTES} bytes each.`);
  }
}
