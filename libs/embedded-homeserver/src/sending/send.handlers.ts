import { isJsonObject, MatrixError } from '@headgate/matrix-protocol';
import { type MatrixResponse, delayInBody, delayInQuery, type MatrixRequest, ok } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { type EmbeddedCaller, EmbeddedIdentity } from '../accounts/embedded-identity.js';
import { DelayedEvents } from '../delayed-events/delayed-events.js';
import { Handlers } from '../handlers.js';
import { signedJson } from '../request-json.js';
import { checkSize, RoomRules } from '../rooms/room-rules.js';
import type { NewEvent } from '../rooms/events.js';
import { Rooms } from '../rooms/rooms.js';
import { Transactions } from './transactions.js';

/** Sending events and setting state, now or delayed. */
@Injectable()
export class SendHandlers extends Handlers {
  constructor(
    private readonly rooms: Rooms,
    private readonly rules: RoomRules,
    private readonly transactions: Transactions,
    private readonly delayed: DelayedEvents,
    private readonly identity: EmbeddedIdentity,
  ) {
    super();
  }

  override readonly handlers = {
    send: (request: MatrixRequest) => this.send(request),
    setState: (request: MatrixRequest) => this.setState(request),
    scheduleDelayed: (request: MatrixRequest) => this.schedule(request),
  };

  private async send(request: MatrixRequest): Promise<MatrixResponse> {
    const caller = this.identity.require(request);
    const event = this.eventOf(request, caller.userId, await signedJson(request));
    const delay = delayInQuery(request);
    return this.transactions.once(caller, request, () =>
      delay === undefined
        ? this.sendNow({ ...event, ...transactionOf(caller, request) })
        : this.sendLater(event, delay),
    );
  }

  private async setState(request: MatrixRequest): Promise<MatrixResponse> {
    const { userId } = this.identity.require(request);
    const content = await signedJson(request);
    const event = { ...this.eventOf(request, userId, content), stateKey: request.param('stateKey') };
    const delay = delayInQuery(request);
    return ok(delay === undefined ? this.sendNow(event) : this.sendLater(event, delay));
  }

  private async schedule(request: MatrixRequest): Promise<MatrixResponse> {
    const caller = this.identity.require(request);
    const body = await signedJson(request);
    const delay = delayInBody(body);
    const { state_key: stateKey, content } = body;
    const event: NewEvent = {
      ...this.eventOf(request, caller.userId, isJsonObject(content) ? content : {}),
      ...(typeof stateKey === 'string' && { stateKey }),
    };
    return this.transactions.once(caller, request, () => this.sendLater(event, delay));
  }

  private eventOf(request: MatrixRequest, sender: string, content: NewEvent['content']): NewEvent {
    return { roomId: request.param('roomId'), type: request.param('eventType'), sender, content };
  }

  private sendNow(event: NewEvent) {
    if (!this.rooms.exists(event.roomId)) throw MatrixError.forbidden('The user is not a member of this room.');
    this.rules.check(event);
    return { event_id: this.rooms.append(event) };
  }

  // Membership is checked again when the event is due.
  private sendLater(event: NewEvent, delayMs: number) {
    checkSize(event);
    this.rules.requireJoined(event.roomId, event.sender);
    return { delay_id: this.delayed.schedule(event, delayMs) };
  }
}

function transactionOf({ deviceId }: EmbeddedCaller, { params }: MatrixRequest): Pick<NewEvent, 'transaction'> {
  return params.txnId ? { transaction: { deviceId, id: params.txnId } } : {};
}
