import {
  eventIdOf,
  redactIfModified,
  isJsonObject,
  type JsonObject,
  MatrixError,
  type Pdu,
  readPdu,
  serverAclAllows,
  ServerKeys,
  verifySignedEvent,
} from '@headgate/matrix-protocol';
import { Injectable } from '@nestjs/common';
import { RoomRules } from '../rooms/room-rules.js';
import type { ForeignEvent } from '../rooms/events.js';
import { Rooms } from '../rooms/rooms.js';

/**
 * An event has one signature by its server, or two while keys change. No more are looked up, because each could need a
 * request.
 */
const MAX_SIGNATURES = 4;

/** An event of a peer, or the reason for refusing it. */
export interface CheckedEvent {
  eventId: string;
  event: Pdu | MatrixError;
}

export type EventResults = Record<string, { error?: string }>;

/**
 * Accepts events of other servers' members into rooms of this one. Each event is checked against the room's current
 * state here: there is no state resolution, and the event's previous and authorizing events are not fetched.
 */
@Injectable()
export class ReceiveEvents {
  constructor(
    private readonly rooms: Rooms,
    private readonly rules: RoomRules,
    private readonly keys: ServerKeys,
  ) {}

  /**
   * Checks format, origin, signature and hash, in order. An entry that is not an object has no ID, so it gets no
   * result.
   */
  async check(origin: string, pdus: readonly unknown[]): Promise<CheckedEvent[]> {
    const checked: CheckedEvent[] = [];
    for (const pdu of pdus.filter(isJsonObject)) {
      checked.push({ eventId: eventIdOf(pdu), event: await this.verify(origin, pdu).catch(refusal) });
    }
    return checked;
  }

  /** Stores the accepted events. The result has an entry per event; a known event counts as stored. */
  apply(checked: readonly CheckedEvent[]): EventResults {
    return Object.fromEntries(checked.map((one) => [one.eventId, this.store(one)]));
  }

  private async verify(origin: string, raw: JsonObject): Promise<Pdu> {
    const { senderServer, originServerTs } = readPdu(raw);
    if (senderServer !== origin) throw MatrixError.forbidden('The sender belongs to another server than the origin.');
    if (!(await this.hasValidSignature(raw, origin, originServerTs))) {
      throw new MatrixError(401, 'M_UNAUTHORIZED', "No signature by the sender's server could be verified.");
    }
    return readPdu(redactIfModified(raw));
  }

  private async hasValidSignature(raw: JsonObject, server: string, sentAt: number): Promise<boolean> {
    const signatures = isJsonObject(raw.signatures) ? raw.signatures[server] : undefined;
    for (const keyId of Object.keys(isJsonObject(signatures) ? signatures : {}).slice(0, MAX_SIGNATURES)) {
      const key = await this.keys.findForEvent(server, keyId, sentAt);
      if (key !== undefined && verifySignedEvent(raw, server, keyId, key)) return true;
    }
    return false;
  }

  private store({ eventId, event }: CheckedEvent): { error?: string } {
    try {
      if (event instanceof MatrixError) throw event;
      if (this.rooms.event(event.roomId, eventId)) return {};
      this.checkRoom(event);
      const accepted: ForeignEvent = { ...event, eventId, sentAt: event.originServerTs };
      this.rules.check(accepted);
      this.rooms.append(accepted);
      return {};
    } catch (error) {
      return { error: refusal(error).message };
    }
  }

  private checkRoom({ roomId, type, senderServer }: Pdu): void {
    if (!this.rooms.exists(roomId)) throw MatrixError.notFound('There is no such room here.');
    if (!serverAclAllows(this.rooms.stateContent(roomId, 'm.room.server_acl'), senderServer)) {
      throw MatrixError.forbidden('The room does not admit this server.');
    }
    if (this.rooms.stateContent(roomId, 'm.room.create')?.['m.federate'] === false) {
      throw MatrixError.forbidden('The room is for users of its own server.');
    }
    // A redaction that is stored but not applied would keep content that all other servers have removed.
    if (type === 'm.room.redaction') throw MatrixError.forbidden('Redactions are not applied here.');
  }
}

/** The refusal of an event. Any other error fails the whole request. */
function refusal(error: unknown): MatrixError {
  if (error instanceof MatrixError) return error;
  throw error;
}
