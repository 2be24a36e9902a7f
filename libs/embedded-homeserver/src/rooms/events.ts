import type { JsonObject } from '@headgate/matrix-protocol';

export interface NewEvent {
  roomId: string;
  type: string;
  stateKey?: string;
  sender: string;
  content: JsonObject;
  /** The ID of the delayed event, which only its sender receives. */
  delayId?: string;
  /** The device and the transaction ID of the request. The device receives the ID with the event. */
  transaction?: { deviceId: string; id: string };
}

/** An event of another server, with the ID derived from its content. */
export interface ForeignEvent extends NewEvent {
  eventId: string;
  /** The time according to the sender's server, in ms since 1970. */
  sentAt: number;
}

export interface StoredEvent extends NewEvent {
  seq: number;
  eventId: string;
  sentAt: number;
}

export interface EventRow {
  seq: number;
  event_id: string;
  room_id: string;
  type: string;
  state_key: string | null;
  sender: string;
  content: string;
  sent_at: number;
  delay_id: string | null;
  txn_device: string | null;
  txn_id: string | null;
}

/** The user and device that receive an event. */
export interface Viewer {
  userId: string;
  deviceId: string;
}

export const toEvent = (row: EventRow): StoredEvent => ({
  seq: row.seq,
  eventId: row.event_id,
  roomId: row.room_id,
  type: row.type,
  sender: row.sender,
  content: JSON.parse(row.content),
  sentAt: row.sent_at,
  ...(row.state_key !== null && { stateKey: row.state_key }),
  ...(row.delay_id !== null && { delayId: row.delay_id }),
  ...(row.txn_device !== null && row.txn_id !== null && { transaction: { deviceId: row.txn_device, id: row.txn_id } }),
});

/** The client format of an event. */
export function clientEvent(event: StoredEvent, viewer: Viewer): JsonObject {
  const { eventId, roomId, type, sender, content, sentAt, stateKey } = event;
  const unsigned = unsignedFor(event, viewer);
  return {
    event_id: eventId,
    room_id: roomId,
    type,
    sender,
    content,
    origin_server_ts: sentAt,
    ...(stateKey !== undefined && { state_key: stateKey }),
    ...(Object.keys(unsigned).length > 0 && { unsigned }),
  };
}

/** For the sender only: the ID of the delayed event, and on the sending device the transaction ID. */
function unsignedFor({ sender, delayId, transaction }: StoredEvent, viewer: Viewer): JsonObject {
  if (sender !== viewer.userId) return {};
  return {
    ...(delayId !== undefined && { delay_id: delayId }),
    ...(transaction?.deviceId === viewer.deviceId && { transaction_id: transaction.id }),
  };
}
