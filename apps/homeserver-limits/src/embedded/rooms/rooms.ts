import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { JsonObject } from '@headgate/matrix-protocol';
import type { WallClock } from '../clock.js';
import type { Database } from '../database.js';

export interface NewEvent {
  roomId: string;
  type: string;
  stateKey?: string;
  sender: string;
  content: JsonObject;
  /** The event was delayed; its sender learns which one it was. */
  delayId?: string;
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

interface EventRow {
  seq: number;
  event_id: string;
  room_id: string;
  type: string;
  state_key: string | null;
  sender: string;
  content: string;
  sent_at: number;
  delay_id: string | null;
}

/** Rooms, what was sent to them, and who is in them. */
export class Rooms {
  /** Tells whoever waits that something was sent. */
  readonly sent = new EventEmitter<{ event: [] }>().setMaxListeners(0);

  constructor(
    private readonly db: Database,
    private readonly clock: WallClock,
  ) {}

  create(roomId: string, creator: string, version: string): void {
    this.db.run('INSERT INTO rooms VALUES (?, ?, ?)', roomId, creator, version);
  }

  exists(roomId: string): boolean {
    return this.db.get('SELECT 1 FROM rooms WHERE room_id = ?', roomId) !== undefined;
  }

  creator(roomId: string): string | undefined {
    return this.db.get<{ creator: string }>('SELECT creator FROM rooms WHERE room_id = ?', roomId)?.creator;
  }

  /** Stores an event, and for state what follows from it. Answers the event's id. */
  append({ roomId, type, stateKey, sender, content, delayId, ...foreign }: NewEvent | ForeignEvent): string {
    const { eventId = newEventId(), sentAt = this.clock.now() } = foreign as Partial<ForeignEvent>;
    this.db.transaction(() => {
      const sql = `INSERT INTO events (event_id, room_id, type, state_key, sender, content, sent_at, delay_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
      const body = JSON.stringify(content);
      this.db.run(sql, eventId, roomId, type, stateKey ?? null, sender, body, sentAt, delayId ?? null);
      if (stateKey !== undefined) this.setState(roomId, type, stateKey, eventId, content);
    });
    this.sent.emit('event');
    return eventId;
  }

  membership(roomId: string, userId: string): string | undefined {
    const sql = 'SELECT membership FROM memberships WHERE user_id = ? AND room_id = ?';
    return this.db.get<{ membership: string }>(sql, userId, roomId)?.membership;
  }

  members(roomId: string): string[] {
    const sql = "SELECT user_id FROM memberships WHERE room_id = ? AND membership = 'join' ORDER BY user_id";
    return this.db.all<{ user_id: string }>(sql, roomId).map(({ user_id }) => user_id);
  }

  roomsOf(userId: string, membership: string): string[] {
    const sql = 'SELECT room_id FROM memberships WHERE user_id = ? AND membership = ? ORDER BY room_id';
    return this.db.all<{ room_id: string }>(sql, userId, membership).map(({ room_id }) => room_id);
  }

  stateContent(roomId: string, type: string, stateKey = ''): JsonObject | undefined {
    const sql = `SELECT content FROM events JOIN state USING (event_id)
      WHERE state.room_id = ? AND state.type = ? AND state.state_key = ?`;
    const row = this.db.get<{ content: string }>(sql, roomId, type, stateKey);
    return row && JSON.parse(row.content);
  }

  hasState(roomId: string, type: string, stateKey = ''): boolean {
    return this.stateContent(roomId, type, stateKey) !== undefined;
  }

  state(roomId: string): StoredEvent[] {
    const sql = `SELECT events.* FROM events JOIN state USING (event_id) WHERE state.room_id = ? ORDER BY seq`;
    return this.db.all<EventRow>(sql, roomId).map(toEvent);
  }

  event(roomId: string, eventId: string): StoredEvent | undefined {
    const row = this.db.get<EventRow>('SELECT * FROM events WHERE event_id = ? AND room_id = ?', eventId, roomId);
    return row && toEvent(row);
  }

  /** At most `limit` events of the room after `seq`, the latest ones, in order. */
  timeline(roomId: string, after: number, limit: number): StoredEvent[] {
    const sql = 'SELECT * FROM events WHERE room_id = ? AND seq > ? ORDER BY seq DESC LIMIT ?';
    return this.db.all<EventRow>(sql, roomId, after, limit).map(toEvent).reverse();
  }

  lastSeq(): number {
    return this.db.count('SELECT coalesce(max(seq), 0) AS n FROM events');
  }

  private setState(roomId: string, type: string, stateKey: string, eventId: string, content: JsonObject): void {
    const sql = 'INSERT INTO state VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET event_id = excluded.event_id';
    this.db.run(sql, roomId, type, stateKey, eventId);
    if (type !== 'm.room.member') return;
    const member =
      'INSERT INTO memberships VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET membership = excluded.membership';
    this.db.run(member, stateKey, roomId, String(content.membership));
  }
}

const newEventId = (): string => `$${randomBytes(32).toString('base64url')}`;

const toEvent = (row: EventRow): StoredEvent => ({
  seq: row.seq,
  eventId: row.event_id,
  roomId: row.room_id,
  type: row.type,
  sender: row.sender,
  content: JSON.parse(row.content),
  sentAt: row.sent_at,
  ...(row.state_key !== null && { stateKey: row.state_key }),
  ...(row.delay_id !== null && { delayId: row.delay_id }),
});

/** An event as clients see it. */
export const clientEvent = (event: StoredEvent, viewer: string): JsonObject => ({
  event_id: event.eventId,
  room_id: event.roomId,
  type: event.type,
  sender: event.sender,
  content: event.content,
  origin_server_ts: event.sentAt,
  ...(event.stateKey !== undefined && { state_key: event.stateKey }),
  ...(event.delayId !== undefined && event.sender === viewer && { unsigned: { delay_id: event.delayId } }),
});
