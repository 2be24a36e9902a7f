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

/** An event has one signature by its server, or two while keys change. More are not looked up: each could be a fetch. */
const MAX_SIGNATURES = 4;

/** An event of a peer that may be taken, or why it may not. */
export interface CheckedEvent {
  eventId: string;
  event: Pdu | MatrixError;
}

export type EventResults = Record<string, { error?: string }>;

/**
 * Takes events of members that other servers have in rooms of this one. Each is judged by the state that its room has
 * here and now: there is no state resolution, and nobody walks what the event names as its past or as what allows it.
 */
@Injectable()
export class ReceiveEvents {
  constructor(
    private readonly rooms: Rooms,
    private readonly rules: RoomRules,
    private readonly keys: ServerKeys,
  ) {}

  /** Checks form, origin, signature and hash, in order. What is no object has no id, so nothing can be said about it. */
  async check(origin: string, pdus: readonly unknown[]): Promise<CheckedEvent[]> {
    const checked: CheckedEvent[] = [];
    for (const pdu of pdus.filter(isJsonObject)) {
      checked.push({ eventId: eventIdOf(pdu), event: await this.genuine(origin, pdu).catch(refusal) });
    }
    return checked;
  }

  /** Stores what its room takes. The answer says for each event whether it was; one that is known was. */
  apply(checked: readonly CheckedEvent[]): EventResults {
    return Object.fromEntries(checked.map((one) => [one.eventId, this.applyOne(one)]));
  }

  private async genuine(origin: string, raw: JsonObject): Promise<Pdu> {
    const { senderServer, originServerTs } = readPdu(raw);
    if (senderServer !== origin) throw MatrixError.forbidden('The sender is a user of another server than this one.');
    if (!(await this.isSigned(raw, origin, originServerTs))) {
      throw new MatrixError(401, 'M_UNAUTHORIZED', "No signature by the sender's server can be confirmed.");
    }
    return readPdu(redactIfModified(raw));
  }

  private async isSigned(raw: JsonObject, server: string, sentAt: number): Promise<boolean> {
    const signatures = isJsonObject(raw.signatures) ? raw.signatures[server] : undefined;
    for (const keyId of Object.keys(isJsonObject(signatures) ? signatures : {}).slice(0, MAX_SIGNATURES)) {
      const key = await this.keys.findForEvent(server, keyId, sentAt);
      if (key !== undefined && verifySignedEvent(raw, server, keyId, key)) return true;
    }
    return false;
  }

  private applyOne({ eventId, event }: CheckedEvent): { error?: string } {
    try {
      if (event instanceof MatrixError) throw event;
      if (this.rooms.event(event.roomId, eventId)) return {};
      this.checkRoom(event);
      const taken: ForeignEvent = { ...event, eventId, sentAt: event.originServerTs };
      this.rules.check(taken);
      this.rooms.append(taken);
      return {};
    } catch (error) {
      return { error: refusal(error).message };
    }
  }

  private checkRoom({ roomId, type, senderServer }: Pdu): void {
    if (!this.rooms.exists(roomId)) throw MatrixError.notFound('There is no such room here.');
    if (!serverAclAllows(this.rooms.stateContent(roomId, 'm.room.server_acl'), senderServer)) {
      throw MatrixError.forbidden('The room lets nobody of this server in.');
    }
    if (this.rooms.stateContent(roomId, 'm.room.create')?.['m.federate'] === false) {
      throw MatrixError.forbidden('The room is for users of its own server.');
    }
    // Taken but not applied, a redaction would leave what everybody believes is gone.
    if (type === 'm.room.redaction') throw MatrixError.forbidden('Redactions are not applied here.');
  }
}

/** The refusal that an event met. What is no refusal is a fault, and fails the whole request. */
function refusal(error: unknown): MatrixError {
  if (error instanceof MatrixError) return error;
  throw error;
}
