import { isJsonObject, isRoomAlias, type JsonObject, MatrixError, parseUserId } from '@headgate/matrix-protocol';

export const ROOM_VERSION = '11';

export interface StateToSet {
  type: string;
  stateKey: string;
  content: JsonObject;
}

/** The parsed body of a request to create a room. */
export interface RoomRequest {
  alias?: string;
  creation: JsonObject;
  /** In the order in which the events are sent. */
  state: StateToSet[];
  invited: string[];
  direct: boolean;
}

interface Preset {
  join_rule: 'invite' | 'public';
  guest_access: 'can_join' | 'forbidden';
  /** Invited users get the same power level as the creator. */
  trusted: boolean;
}

const PRESETS = new Map<unknown, Preset>([
  ['private_chat', { join_rule: 'invite', guest_access: 'can_join', trusted: false }],
  ['trusted_private_chat', { join_rule: 'invite', guest_access: 'can_join', trusted: true }],
  ['public_chat', { join_rule: 'public', guest_access: 'forbidden', trusted: false }],
]);

/** @throws MatrixError M_BAD_JSON, M_INVALID_PARAM, M_UNSUPPORTED_ROOM_VERSION */
export function readRoomRequest(body: JsonObject, creator: string, serverName: string): RoomRequest {
  const { room_version: version = ROOM_VERSION, invite_3pid: thirdParty = [], is_direct: direct = false } = body;
  if (version !== ROOM_VERSION) {
    throw new MatrixError(400, 'M_UNSUPPORTED_ROOM_VERSION', `This server supports room version ${ROOM_VERSION} only.`);
  }
  if (!Array.isArray(thirdParty)) throw MatrixError.badJson('invite_3pid must be a list.');
  if (thirdParty.length > 0) throw MatrixError.invalidParam('This server does not support invites by email or phone.');
  if (typeof direct !== 'boolean') throw MatrixError.badJson('is_direct must be true or false.');
  const alias = aliasIn(body, serverName);
  const invited = invitedIn(body);
  const creation = { ...objectIn(body, 'creation_content'), room_version: ROOM_VERSION };
  const state = stateIn(body, creator, invited, alias);
  return { creation, state, invited, direct, ...(alias !== undefined && { alias }) };
}

function stateIn(body: JsonObject, creator: string, invited: string[], alias: string | undefined): StateToSet[] {
  const preset = presetIn(body);
  const own = (type: string, content: JsonObject): StateToSet => ({ type, stateKey: '', content });
  const powerful = [creator, ...(preset.trusted ? invited : [])];
  const users = Object.fromEntries(powerful.map((userId) => [userId, 100]));
  const text = (name: 'name' | 'topic') => {
    const value = textIn(body, name);
    return value === undefined ? [] : [own(`m.room.${name}`, { [name]: value })];
  };
  return [
    own('m.room.power_levels', { users, ...objectIn(body, 'power_level_content_override') }),
    ...(alias === undefined ? [] : [own('m.room.canonical_alias', { alias })]),
    own('m.room.join_rules', { join_rule: preset.join_rule }),
    own('m.room.history_visibility', { history_visibility: 'shared' }),
    own('m.room.guest_access', { guest_access: preset.guest_access }),
    ...initialState(body),
    ...text('name'),
    ...text('topic'),
  ];
}

function presetIn({ visibility = 'private', preset: presetName }: JsonObject): Preset {
  if (visibility !== 'private' && visibility !== 'public')
    throw MatrixError.badJson('visibility must be private or public.');
  const preset = PRESETS.get(presetName ?? (visibility === 'public' ? 'public_chat' : 'private_chat'));
  if (!preset) throw MatrixError.badJson(`preset must be one of ${[...PRESETS.keys()].join(', ')}.`);
  return preset;
}

function aliasIn(body: JsonObject, serverName: string): string | undefined {
  const name = textIn(body, 'room_alias_name');
  if (name === undefined) return undefined;
  const alias = `#${name}:${serverName}`;
  if (name.includes(':') || !isRoomAlias(alias))
    throw MatrixError.invalidParam('room_alias_name is not a valid alias.');
  return alias;
}

function invitedIn({ invite = [] }: JsonObject): string[] {
  if (!Array.isArray(invite) || !invite.every((userId) => parseUserId(userId))) {
    throw MatrixError.badJson('invite must be a list of user IDs.');
  }
  return [...new Set(invite as string[])];
}

function initialState({ initial_state: events = [] }: JsonObject): StateToSet[] {
  if (!Array.isArray(events)) throw MatrixError.badJson('initial_state must be a list.');
  return events.map((event: unknown) => {
    const { type, content, state_key: stateKey = '' } = isJsonObject(event) ? event : {};
    if (typeof type !== 'string' || typeof stateKey !== 'string' || !isJsonObject(content)) {
      throw MatrixError.badJson('initial_state must be a list of state events.');
    }
    return { type, stateKey, content };
  });
}

function textIn(body: JsonObject, name: string): string | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== 'string') throw MatrixError.badJson(`${name} must be a string.`);
  return value;
}

function objectIn(body: JsonObject, name: string): JsonObject {
  const value = body[name] ?? {};
  if (!isJsonObject(value)) throw MatrixError.badJson(`${name} must be an object.`);
  return value;
}
