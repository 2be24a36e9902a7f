import type { JsonObject } from '@headgate/matrix-protocol';

export interface NewEvent {
  roomId: string;
  type: string;
  stateKey?: string;
  sender: string;
  content: JsonObject;
  /** The event was delayed; its sender learns which one it was. */
  delayId?: string;
  /** The device that sent the event, and under which id; it learns it again with the event. */
  transaction?: { deviceId: string; id: string };
}

/** An event of another server, under the id that its content gives it. */
export interface ForeignEvent extends NewEvent {
  eventId: string;
  /** When its sender's server says that it was sent, in ms since 1970. */
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

/** Whom an event is shown to. */
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

/** An event as clients see it. */
export function clientEvent(event: StoredEvent, viewer: Viewer): JsonObject {
  const { eventId, roomId, type, sender, content, sentAt, stateKey } = event;
  const unsigned = unsignedFor(event, viewer);
  return {
    ...{ event_id: eventId, room_id: roomId, type, sender, content, origin_server_ts: sentAt },
    ...(stateKey !== undefined && { state_key: stateKey }),
    ...(Object.keys(unsigned).length > 0 && { unsigned }),
  };
}

/** What only the sender learns: which of his delayed events this was, and by which transaction his device sent it. */
function unsignedFor({ sender, delayId, transaction }: StoredEvent, viewer: Viewer): JsonObject {
  if (sender !== viewer.userId) return {};
  return {
    ...(delayId !== undefined && { delay_id: delayId }),
    ...(transaction?.deviceId === viewer.deviceId && { transaction_id: transaction.id }),
  };
}
