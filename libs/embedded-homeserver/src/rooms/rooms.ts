import { randomBytes } from 'node:crypto';
import type { JsonObject } from '@headgate/matrix-protocol';
import { Injectable } from '@nestjs/common';
import { Changes } from '../changes.js';
import { Clock } from '@headgate/clock';
import { Database } from '../database.js';
import { type EventRow, type ForeignEvent, type NewEvent, type StoredEvent, toEvent } from './events.js';

/** Rooms with their events, state and members. */
@Injectable()
export class Rooms {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
    private readonly changes: Changes = new Changes(),
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

  /** Stores an event, and updates the state. @returns the event ID */
  append(event: NewEvent | ForeignEvent): string {
    const { roomId, type, stateKey, sender, content, delayId, transaction } = event;
    const { eventId = newEventId(), sentAt = this.clock.now() } = event as Partial<ForeignEvent>;
    this.db.transaction(() => {
      const sql = `INSERT INTO events
        (event_id, room_id, type, state_key, sender, content, sent_at, delay_id, txn_device, txn_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
      const values = [eventId, roomId, type, stateKey ?? null, sender, JSON.stringify(content), sentAt];
      this.db.run(sql, ...values, delayId ?? null, transaction?.deviceId ?? null, transaction?.id ?? null);
      if (stateKey !== undefined) this.setState(roomId, type, stateKey, eventId, content);
    });
    this.changes.announce();
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

  stateEvent(roomId: string, type: string, stateKey = ''): StoredEvent | undefined {
    const sql = `SELECT events.* FROM events JOIN state USING (event_id)
      WHERE state.room_id = ? AND state.type = ? AND state.state_key = ?`;
    const row = this.db.get<EventRow>(sql, roomId, type, stateKey);
    return row && toEvent(row);
  }

  stateContent(roomId: string, type: string, stateKey = ''): JsonObject | undefined {
    return this.stateEvent(roomId, type, stateKey)?.content;
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

  /** The latest events of the room after `seq`, at most `limit`, in order. */
  timeline(roomId: string, after: number, limit: number): StoredEvent[] {
    const sql = 'SELECT * FROM events WHERE room_id = ? AND seq > ? ORDER BY seq DESC LIMIT ?';
    return this.db.all<EventRow>(sql, roomId, after, limit).map(toEvent).reverse();
  }

  /** Whether there is a later event in a joined room, or a change of the user's own membership. */
  hasNews(userId: string, after: number): boolean {
    const sql = `SELECT 1 FROM memberships JOIN events USING (room_id) WHERE user_id = ? AND seq > ?
      AND (membership = 'join' OR (type = 'm.room.member' AND state_key = user_id)) LIMIT 1`;
    return this.db.get(sql, userId, after) !== undefined;
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
