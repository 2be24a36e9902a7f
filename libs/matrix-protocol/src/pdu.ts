import { canonicalJson } from './canonical-json.js';
import { isEventId, isRoomId, parseUserId, utf8Length } from './identifiers.js';
import { MatrixError } from './matrix-error.js';
import { isJsonObject, type JsonObject } from './parse-json.js';

/** The largest event that any room takes, as canonical JSON. */
export const MAX_EVENT_BYTES = 65_536;
const MAX_NAME_BYTES = 255;
const MAX_PREV_EVENTS = 20;
const MAX_AUTH_EVENTS = 10;

/** An event between servers, in the format of room versions 4 to 11. */
export interface Pdu {
  type: string;
  roomId: string;
  sender: string;
  /** The server that speaks for the sender. */
  senderServer: string;
  stateKey?: string;
  content: JsonObject;
  /** Unix time in ms, as the sender's server claims. */
  originServerTs: number;
}

/** Checks an event's form and size; not who signed it, nor whether its room takes it. @throws MatrixError M_BAD_JSON, M_TOO_LARGE */
export function readPdu(event: JsonObject): Pdu {
  const { type, room_id: roomId, sender, state_key: stateKey, content } = event;
  if (utf8Length(canonicalJson(event)) > MAX_EVENT_BYTES) {
    throw MatrixError.tooLarge(`An event has at most ${MAX_EVENT_BYTES} bytes.`);
  }
  if (!isShortText(type)) throw unusable('type');
  if (stateKey !== undefined && !isShortText(stateKey)) throw unusable('state_key');
  if (!isRoomId(roomId)) throw unusable('room_id');
  const senderServer = parseUserId(sender)?.server;
  if (senderServer === undefined) throw unusable('sender');
  if (!isJsonObject(content)) throw unusable('content');
  checkPlace(event);
  return {
    ...{ type, roomId, sender: String(sender), senderServer, content },
    originServerTs: Number(event.origin_server_ts),
    ...(stateKey !== undefined && { stateKey }),
  };
}

/** Where and when the event says it stands in its room, and what vouches for it. */
function checkPlace(event: JsonObject): void {
  for (const name of ['origin_server_ts', 'depth']) {
    if (!Number.isSafeInteger(event[name]) || Number(event[name]) < 0) throw unusable(name);
  }
  if (!areEventIds(event.prev_events, 1, MAX_PREV_EVENTS)) throw unusable('prev_events');
  if (!areEventIds(event.auth_events, 0, MAX_AUTH_EVENTS)) throw unusable('auth_events');
  if (!isJsonObject(event.hashes) || typeof event.hashes.sha256 !== 'string') throw unusable('hashes');
  if (!isJsonObject(event.signatures)) throw unusable('signatures');
}

const isShortText = (value: unknown): value is string =>
  typeof value === 'string' && utf8Length(value) <= MAX_NAME_BYTES;

const areEventIds = (value: unknown, min: number, max: number): boolean =>
  Array.isArray(value) && value.length >= min && value.length <= max && value.every(isEventId);

const unusable = (name: string): MatrixError => MatrixError.badJson(`The event's ${name} is missing or unusable.`);
