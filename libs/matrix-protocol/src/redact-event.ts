import { isJsonObject, type JsonObject } from './parse-json.js';

const KEPT = [
  ...['event_id', 'type', 'room_id', 'sender', 'state_key', 'content', 'hashes', 'signatures', 'depth'],
  ...['prev_events', 'auth_events', 'origin_server_ts'],
];

/** The members of the content to keep, by event type; other types keep none. */
const KEPT_CONTENT: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['m.room.member', ['membership', 'join_authorised_via_users_server', 'third_party_invite']],
  ['m.room.join_rules', ['join_rule', 'allow']],
  [
    'm.room.power_levels',
    ['ban', 'events', 'events_default', 'invite', 'kick', 'redact', 'state_default', 'users', 'users_default'],
  ],
  ['m.room.history_visibility', ['history_visibility']],
  ['m.room.redaction', ['redacts']],
]);

/**
 * Redacts an event with the algorithm of room version 11. Signatures and IDs are computed over this form, so that they
 * stay valid after a redaction.
 */
export function redactEvent(event: JsonObject): JsonObject {
  return { ...pick(event, KEPT), content: redactContent(event.type, isJsonObject(event.content) ? event.content : {}) };
}

function redactContent(type: unknown, content: JsonObject): JsonObject {
  if (type === 'm.room.create') return content;
  const kept = pick(content, KEPT_CONTENT.get(type) ?? []);
  if (kept.third_party_invite === undefined) return kept;
  const { third_party_invite: invite, ...rest } = kept;
  return isJsonObject(invite) ? { ...rest, third_party_invite: pick(invite, ['signed']) } : rest;
}

const pick = (object: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(object, name)).map((name) => [name, object[name]]));
