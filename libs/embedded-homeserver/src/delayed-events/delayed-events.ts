import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { type JsonObject, MatrixError } from '@headgate/matrix-protocol';
import { Injectable } from '@nestjs/common';
import { Clock } from '@headgate/clock';
import { Database } from '../database.js';
import { RoomRules } from '../rooms/room-rules.js';
import type { NewEvent } from '../rooms/events.js';
import { Rooms } from '../rooms/rooms.js';

export const ACTIONS = ['send', 'cancel', 'restart'] as const;
export type DelayAction = (typeof ACTIONS)[number];

export interface DelayedEvent {
  delay_id: string;
  user_id: string;
  room_id: string;
  type: string;
  state_key: string | null;
  content: string;
  delay_ms: number;
  running_since: number;
  due_at: number;
  status: 'pending' | 'sent' | 'cancelled' | 'failed';
  finalised_at: number | null;
  event_id: string | null;
  error: string | null;
}

const KEEP_FINISHED_MS = 7 * 24 * 60 * 60 * 1000;

/** Events with a delay. They are stored, so a restart does not delay them further. */
@Injectable()
export class DelayedEvents {
  /** Emitted when the next due time may have changed. */
  readonly changed = new EventEmitter<{ schedule: [] }>();

  constructor(
    private readonly db: Database,
    private readonly rooms: Rooms,
    private readonly rules: RoomRules,
    private readonly clock: Clock,
  ) {}

  /** @returns the delay ID. It cannot be guessed, and its holders may manage the event. */
  schedule({ roomId, type, stateKey, sender, content }: NewEvent, delayMs: number): string {
    const delayId = `hgd_${randomBytes(24).toString('base64url')}`;
    const now = this.clock.now();
    const sql = `INSERT INTO delayed_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', NULL, NULL, NULL)`;
    const body = JSON.stringify(content);
    this.db.run(sql, delayId, sender, roomId, type, stateKey ?? null, body, delayMs, now, now + delayMs);
    this.changed.emit('schedule');
    return delayId;
  }

  find(delayId: string): DelayedEvent | undefined {
    return this.db.get<DelayedEvent>('SELECT * FROM delayed_events WHERE delay_id = ?', delayId);
  }

  /** Ordered by due time. */
  pendingOf(userId: string): DelayedEvent[] {
    const sql = "SELECT * FROM delayed_events WHERE user_id = ? AND status = 'pending' ORDER BY due_at, delay_id";
    return this.db.all<DelayedEvent>(sql, userId);
  }

  countPending(userId: string, roomId: string): number {
    const sql = `SELECT count(*) AS n FROM delayed_events WHERE user_id = ? AND room_id = ? AND status = 'pending'`;
    return this.db.count(sql, userId, roomId);
  }

  /** Repeating a finished action succeeds; a contradicting one fails. @throws MatrixError 409 */
  manage(event: DelayedEvent, action: DelayAction): void {
    if (event.status !== 'pending') {
      const repeats =
        (action === 'send' && event.status === 'sent') || (action === 'cancel' && event.status === 'cancelled');
      if (repeats) return;
      throw new MatrixError(409, 'M_UNKNOWN', `The event has already been ${event.status}.`);
    }
    if (action === 'restart') this.restart(event);
    else if (action === 'cancel') this.finish(event, 'cancelled', {});
    else this.send(event);
  }

  /** The due time of the next event, in ms since 1970. */
  nextDue(): number | undefined {
    const sql = "SELECT min(due_at) AS due FROM delayed_events WHERE status = 'pending'";
    return this.db.get<{ due: number | null }>(sql)?.due ?? undefined;
  }

  /** Sends due events, and deletes those that finished long ago. */
  sendDue(): void {
    const now = this.clock.now();
    const sql = "SELECT * FROM delayed_events WHERE status = 'pending' AND due_at <= ? ORDER BY due_at LIMIT 100";
    for (const event of this.db.all<DelayedEvent>(sql, now)) this.send(event);
    this.db.run("DELETE FROM delayed_events WHERE status <> 'pending' AND finalised_at < ?", now - KEEP_FINISHED_MS);
  }

  private restart({ delay_id, delay_ms }: DelayedEvent): void {
    const now = this.clock.now();
    const sql = 'UPDATE delayed_events SET running_since = ?, due_at = ? WHERE delay_id = ?';
    this.db.run(sql, now, now + delay_ms, delay_id);
    this.changed.emit('schedule');
  }

  // Membership and power levels are checked now, not when the event was scheduled.
  private send(event: DelayedEvent): void {
    const toSend: NewEvent = {
      roomId: event.room_id,
      type: event.type,
      sender: event.user_id,
      content: JSON.parse(event.content),
      delayId: event.delay_id,
      ...(event.state_key !== null && { stateKey: event.state_key }),
    };
    try {
      this.db.transaction(() => {
        this.rules.check(toSend);
        this.finish(event, 'sent', { eventId: this.rooms.append(toSend) });
      });
    } catch (error) {
      if (!(error instanceof MatrixError)) throw error;
      this.finish(event, 'failed', { error: JSON.stringify(error.body()) });
    }
  }

  private finish(
    event: DelayedEvent,
    status: DelayedEvent['status'],
    result: { eventId?: string; error?: string },
  ): void {
    const sql = 'UPDATE delayed_events SET status = ?, finalised_at = ?, event_id = ?, error = ? WHERE delay_id = ?';
    this.db.run(sql, status, this.clock.now(), result.eventId ?? null, result.error ?? null, event.delay_id);
  }
}

/** An event in the list of the deployed endpoint. */
export const legacyView = (event: DelayedEvent): JsonObject => ({
  delay_id: event.delay_id,
  room_id: event.room_id,
  type: event.type,
  ...(event.state_key !== null && { state_key: event.state_key }),
  delay: event.delay_ms,
  running_since: event.running_since,
  content: JSON.parse(event.content),
});

/** An event in the list of the accepted endpoint. */
export const acceptedView = (event: DelayedEvent): JsonObject => ({
  delay_id: event.delay_id,
  room_id: event.room_id,
  type: event.type,
  ...(event.state_key !== null && { state_key: event.state_key }),
  delay_ms: event.delay_ms,
  scheduled_at: event.running_since,
  content: JSON.parse(event.content),
  ...(event.finalised_at !== null && { finalised_ts: event.finalised_at }),
  ...(event.event_id !== null && { event_id: event.event_id }),
  ...(event.error !== null && { error: JSON.parse(event.error) }),
});
