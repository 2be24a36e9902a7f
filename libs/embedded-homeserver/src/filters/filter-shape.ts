import { canonicalJson, isJsonObject, type JsonObject, MatrixError } from '@headgate/matrix-protocol';

type Check = (value: unknown) => boolean;
type Shape = Readonly<Record<string, readonly [check: Check, sentence: string]>>;

const STRINGS = [
  (value: unknown) => Array.isArray(value) && value.every((entry) => typeof entry === 'string'),
  'a list of strings',
] as const;
const FLAG = [(value: unknown) => typeof value === 'boolean', 'true or false'] as const;

const EVENTS: Shape = {
  limit: [(value) => Number.isSafeInteger(value) && Number(value) > 0, 'an integer above 0'],
  senders: STRINGS,
  not_senders: STRINGS,
  types: STRINGS,
  not_types: STRINGS,
};
const ROOM_EVENTS: Shape = {
  ...EVENTS,
  rooms: STRINGS,
  not_rooms: STRINGS,
  contains_url: FLAG,
  lazy_load_members: FLAG,
  include_redundant_members: FLAG,
  unread_thread_notifications: FLAG,
};
const ROOM: Shape = { rooms: STRINGS, not_rooms: STRINGS, include_leave: FLAG };
const FILTER: Shape = {
  event_fields: STRINGS,
  event_format: [(value) => value === 'client' || value === 'federation', 'client or federation'],
};

/**
 * The canonical form of a filter. Equal filters have the same form. Unknown members are kept.
 * @throws MatrixError M_BAD_JSON for an invalid filter
 */
export function canonicalFilter(filter: JsonObject): string {
  check(filter, FILTER, '');
  for (const name of ['presence', 'account_data']) check(part(filter, name), EVENTS, `${name}.`);
  const room = part(filter, 'room');
  check(room, ROOM, 'room.');
  for (const name of ['state', 'timeline', 'ephemeral', 'account_data']) {
    check(part(room, name), ROOM_EVENTS, `room.${name}.`);
  }
  return canonicalJson(filter);
}

function part(filter: JsonObject, name: string): JsonObject {
  const value = filter[name] ?? {};
  if (!isJsonObject(value)) throw MatrixError.badJson(`${name} must be an object.`);
  return value;
}

function check(object: JsonObject, shape: Shape, path: string): void {
  for (const [name, [fits, sentence]] of Object.entries(shape)) {
    const value = object[name];
    if (value !== undefined && !fits(value)) throw MatrixError.badJson(`${path}${name} must be ${sentence}.`);
  }
}
