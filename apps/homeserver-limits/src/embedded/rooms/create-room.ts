import { randomBytes } from 'node:crypto';
import { isJsonObject, isRoomAlias, type JsonObject, MatrixError, parseUserId } from '@headgate/matrix-protocol';
import type { Database } from '../database.js';
import type { Aliases } from './aliases.js';
import type { RoomRules } from './room-rules.js';
import type { Rooms } from './rooms.js';

const ROOM_VERSION = '11';
const PRESETS = ['private_chat', 'trusted_private_chat', 'public_chat'];

interface StateToSet {
  type: string;
  stateKey: string;
  content: JsonObject;
}

/** Makes a room with everything that its creator asks for, or none of it. */
export class CreateRoom {
  constructor(
    private readonly serverName: string,
    private readonly db: Database,
    private readonly rooms: Rooms,
    private readonly rules: RoomRules,
    private readonly aliases: Aliases,
  ) {}

  /** @returns the room's id; @throws MatrixError */
  run(creator: string, body: JsonObject): string {
    const { room_version: version = ROOM_VERSION } = body;
    if (version !== ROOM_VERSION) {
      throw new MatrixError(400, 'M_UNKNOWN', `Rooms here have version ${ROOM_VERSION}.`);
    }
    const roomId = `!${randomBytes(18).toString('base64url')}:${this.serverName}`;
    const alias = this.aliasOf(body);
    const invited = invitedIn(body);
    this.db.transaction(() => {
      this.rooms.create(roomId, creator, ROOM_VERSION);
      const join = { type: 'm.room.member', stateKey: creator, content: { membership: 'join' } };
      for (const state of [created(body), join]) this.rooms.append({ roomId, sender: creator, ...state });
      for (const state of firstState(creator, body, alias)) this.set(roomId, creator, state);
      if (alias !== undefined) this.aliases.add(alias, roomId, creator);
      for (const userId of invited) {
        this.set(roomId, creator, { type: 'm.room.member', stateKey: userId, content: { membership: 'invite' } });
      }
    });
    return roomId;
  }

  private set(roomId: string, sender: string, state: StateToSet): void {
    const event = { roomId, sender, ...state };
    this.rules.check(event);
    this.rooms.append(event);
  }

  private aliasOf({ room_alias_name: name }: JsonObject): string | undefined {
    if (name === undefined) return undefined;
    const alias = `#${String(name)}:${this.serverName}`;
    if (typeof name !== 'string' || !isRoomAlias(alias)) throw MatrixError.invalidParam('room_alias_name is no alias.');
    if (this.aliases.room(alias) !== undefined) throw new MatrixError(400, 'M_ROOM_IN_USE', 'The alias is taken.');
    return alias;
  }
}

const created = ({ creation_content: content }: JsonObject): StateToSet => ({
  type: 'm.room.create',
  stateKey: '',
  content: { ...(isJsonObject(content) && content), room_version: ROOM_VERSION },
});

function invitedIn({ invite = [] }: JsonObject): string[] {
  if (!Array.isArray(invite) || !invite.every((userId) => parseUserId(userId))) {
    throw MatrixError.badJson('invite must be a list of user ids.');
  }
  return [...new Set(invite as string[])];
}

function firstState(creator: string, body: JsonObject, alias: string | undefined): StateToSet[] {
  const { visibility = 'private', preset = visibility === 'public' ? 'public_chat' : 'private_chat' } = body;
  if (!PRESETS.includes(String(preset))) throw MatrixError.badJson(`preset must be one of ${PRESETS.join(', ')}.`);
  const levels = isJsonObject(body.power_level_content_override) ? body.power_level_content_override : {};
  const own = (type: string, content: JsonObject): StateToSet => ({ type, stateKey: '', content });
  return [
    own('m.room.power_levels', { users: { [creator]: 100 }, ...levels }),
    own('m.room.join_rules', { join_rule: preset === 'public_chat' ? 'public' : 'invite' }),
    ...initialState(body),
    ...(typeof body.name === 'string' ? [own('m.room.name', { name: body.name })] : []),
    ...(typeof body.topic === 'string' ? [own('m.room.topic', { topic: body.topic })] : []),
    ...(alias === undefined ? [] : [own('m.room.canonical_alias', { alias })]),
  ];
}

function initialState({ initial_state: events = [] }: JsonObject): StateToSet[] {
  if (!Array.isArray(events)) throw MatrixError.badJson('initial_state must be a list.');
  return events.map((event: unknown) => {
    if (!isJsonObject(event) || typeof event.type !== 'string' || !isJsonObject(event.content)) {
      throw MatrixError.badJson('initial_state holds something that is no state.');
    }
    return { type: event.type, stateKey: String(event.state_key ?? ''), content: event.content };
  });
}
