import { isJsonObject, type JsonObject, MatrixError, parseUserId, utf8Length } from '@headgate/matrix-protocol';
import type { NewEvent, Rooms } from './rooms.js';

const MAX_EVENT_BYTES = 65_536;
const MAX_NAME_BYTES = 255;
const MEMBERSHIPS = ['invite', 'join', 'leave', 'ban'];

/** Who may send what: membership and power levels, as far as the bounded operations need them. */
export class RoomRules {
  constructor(private readonly rooms: Rooms) {}

  /** @throws MatrixError M_FORBIDDEN, M_BAD_JSON, M_TOO_LARGE */
  check(event: NewEvent): void {
    checkSize(event);
    if (event.type === 'm.room.member' && event.stateKey !== undefined)
      return this.checkMembership(event, event.stateKey);
    this.requireJoined(event.roomId, event.sender);
    this.requirePower(event.roomId, event.sender, this.levelFor(event), 'send this');
  }

  requireJoined(roomId: string, userId: string): void {
    if (this.rooms.membership(roomId, userId) !== 'join') throw MatrixError.forbidden('The room has no such member.');
  }

  private checkMembership({ roomId, sender, content }: NewEvent, target: string): void {
    const { membership } = content;
    if (typeof membership !== 'string' || !MEMBERSHIPS.includes(membership)) {
      throw MatrixError.badJson(`membership must be one of ${MEMBERSHIPS.join(', ')}.`);
    }
    if (!parseUserId(target)) throw MatrixError.badJson('The state key of a membership is a user id.');
    if (membership === 'join') return this.checkJoin(roomId, sender, target);
    if (membership === 'leave' && sender === target) return;
    this.requireJoined(roomId, sender);
    if (membership === 'invite') return this.checkInvite(roomId, sender, target);
    this.requirePower(roomId, sender, 50, `${membership === 'ban' ? 'ban' : 'remove'} members`);
  }

  private checkJoin(roomId: string, sender: string, target: string): void {
    const current = this.rooms.membership(roomId, target);
    const open = this.rooms.stateContent(roomId, 'm.room.join_rules')?.join_rule === 'public';
    const mayJoin = current === 'join' || current === 'invite' || (open && current !== 'ban');
    if (sender !== target || !mayJoin) throw MatrixError.forbidden('You are not invited to this room.');
  }

  private checkInvite(roomId: string, sender: string, target: string): void {
    const current = this.rooms.membership(roomId, target);
    if (current === 'join' || current === 'ban')
      throw MatrixError.forbidden('This user is in the room, or banned from it.');
    this.requirePower(roomId, sender, numberOr(this.levels(roomId).invite, 0), 'invite');
  }

  private requirePower(roomId: string, userId: string, needed: number, what: string): void {
    const { users, users_default: byDefault } = this.levels(roomId);
    const own = numberOr(isJsonObject(users) ? users[userId] : undefined, numberOr(byDefault, 0));
    if (own < needed) throw MatrixError.forbidden(`You need power level ${needed} to ${what} here.`);
  }

  private levelFor({ roomId, type, stateKey }: NewEvent): number {
    const levels = this.levels(roomId);
    const own = isJsonObject(levels.events) ? levels.events[type] : undefined;
    return numberOr(
      own,
      stateKey === undefined ? numberOr(levels.events_default, 0) : numberOr(levels.state_default, 50),
    );
  }

  private levels(roomId: string): JsonObject {
    const levels = this.rooms.stateContent(roomId, 'm.room.power_levels');
    // While a room is being made, its creator is the only one who can do anything there.
    return levels ?? { users: { [this.rooms.creator(roomId) ?? '']: 100 } };
  }
}

const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);

function checkSize({ type, stateKey = '', content }: NewEvent): void {
  if (utf8Length(JSON.stringify(content)) > MAX_EVENT_BYTES) {
    throw MatrixError.tooLarge(`An event has at most ${MAX_EVENT_BYTES} bytes.`);
  }
  if (utf8Length(type) > MAX_NAME_BYTES || utf8Length(stateKey) > MAX_NAME_BYTES) {
    throw MatrixError.tooLarge(`A type and a state key have at most ${MAX_NAME_BYTES} bytes each.`);
  }
}
