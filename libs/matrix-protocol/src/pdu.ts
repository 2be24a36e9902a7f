import { canonicalJson } from './canonical-json.js';
import { isEventId, isRoomId, parseUserId, utf8Length } from './identifiers.js';
import { MatrixError } from './matrix-error.js';
import { isJsonObject, type JsonObject } from './parse-json.js';

/** The maximum size of an event as canonical JSON. */
export const MAX_EVENT_BYTES = 65_536;
const MAX_NAME_BYTES = 255;
const MAX_PREV_EVENTS = 20;
const MAX_AUTH_EVENTS = 10;

/** A federated event, in the format of room versions 4 to 11. */
export interface Pdu {
  type: string;
  roomId: string;
  sender: string;
  /** The sender's server. */
  senderServer: string;
  stateKey?: string;
  content: JsonObject;
  /** Unix time in ms, as claimed by the sender's server. */
  originServerTs: number;
}

/**
 * Validates an event's format and size, but not its signature or authorization.
 * @throws MatrixError M_BAD_JSON, M_TOO_LARGE
 */
export function readPdu(event: JsonObject): Pdu {
  const { type, room_id: roomId, sender, state_key: stateKey, content } = event;
  if (utf8Length(canonicalJson(event)) > MAX_EVENT_BYTES) {
    throw MatrixError.tooLarge(`An event must not be larger than ${MAX_EVENT_BYTES} bytes.`);
  }
  if (!isShortText(type)) throw invalid('type');
  if (stateKey !== undefined && !isShortText(stateKey)) throw invalid('state_key');
  if (!isRoomId(roomId)) throw invalid('room_id');
  const senderServer = parseUserId(sender)?.server;
  if (senderServer === undefined) throw invalid('sender');
  if (!isJsonObject(content)) throw invalid('content');
  validatePosition(event);
  return {
    type,
    roomId,
    sender: String(sender),
    senderServer,
    content,
    originServerTs: Number(event.origin_server_ts),
    ...(stateKey !== undefined && { stateKey }),
  };
}

/** Validates the event's position in its room, its hash and its signatures. */
function validatePosition(event: JsonObject): void {
  for (const name of ['origin_server_ts', 'depth']) {
    if (!Number.isSafeInteger(event[name]) || Number(event[name]) < 0) throw invalid(name);
  }
  if (!areEventIds(event.prev_events, 1, MAX_PREV_EVENTS)) throw invalid('prev_events');
  if (!areEventIds(event.auth_events, 0, MAX_AUTH_EVENTS)) throw invalid('auth_events');
  if (!isJsonObject(event.hashes) || typeof event.hashes.sha256 !== 'string') throw invalid('hashes');
  if (!isJsonObject(event.signatures)) throw invalid('signatures');
}

const isShortText = (value: unknown): value is string =>
  typeof value === 'string' && utf8Length(value) <= MAX_NAME_BYTES;

const areEventIds = (value: unknown, min: number, max: number): boolean =>
  Array.isArray(value) && value.length >= min && value.length <= max && value.every(isEventId);

const invalid = (name: string): MatrixError => MatrixError.badJson(`The event's ${name} is missing or invalid.`);
