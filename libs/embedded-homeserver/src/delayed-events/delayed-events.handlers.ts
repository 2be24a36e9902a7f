import { MatrixError } from '@headgate/matrix-protocol';
import { type MatrixResponse, type MatrixRequest, ok } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { EmbeddedIdentity } from '../accounts/embedded-identity.js';
import { Handlers } from '../handlers.js';
import {
  acceptedView,
  ACTIONS,
  type DelayAction,
  type DelayedEvent,
  DelayedEvents,
  legacyView,
} from './delayed-events.js';

/** Listing and managing pending events, with the deployed endpoints and with the accepted ones. */
@Injectable()
export class DelayedEventHandlers extends Handlers {
  constructor(
    private readonly delayed: DelayedEvents,
    private readonly identity: EmbeddedIdentity,
  ) {
    super();
  }

  override readonly handlers = {
    manageDelayed: (request: MatrixRequest) => this.manage(request),
    listDelayed: (request: MatrixRequest) => this.list(request),
    listDelayedUnstable: (request: MatrixRequest) => {
      const events = this.delayed.pendingOf(this.identity.require(request).userId);
      return ok({ delayed_events: events.map(legacyView) });
    },
    getDelayed: (request: MatrixRequest) => ok(acceptedView(this.own(request))),
  };

  private list(request: MatrixRequest): MatrixResponse {
    const events = this.delayed.pendingOf(this.identity.require(request).userId);
    return ok({ delayed_events: events.map(acceptedView) });
  }

  private async manage(request: MatrixRequest): Promise<MatrixResponse> {
    const action = await actionOf(request);
    // With the deployed endpoint, the delay ID authorizes the request: a media service sends the leave event of a lost
    // client.
    const anonymous = request.target.includes('org.matrix.msc4140') && request.token() === undefined;
    const event = anonymous ? this.found(request) : this.own(request);
    this.delayed.manage(event, action);
    return ok();
  }

  // 404, never 403: a refusal must not confirm that the ID exists.
  private own(request: MatrixRequest): DelayedEvent {
    const { userId } = this.identity.require(request);
    const event = this.found(request);
    if (event.user_id !== userId) throw noSuchEvent();
    return event;
  }

  private found(request: MatrixRequest): DelayedEvent {
    const event = this.delayed.find(request.param('delayId'));
    if (!event) throw noSuchEvent();
    return event;
  }
}

const noSuchEvent = () => MatrixError.notFound('There is no such delayed event.');

/** The action in the path or in the body. @throws MatrixError */
async function actionOf(request: MatrixRequest): Promise<DelayAction> {
  const inPath = request.params.action;
  const body = await request.json(undefined, { optional: true });
  const named = inPath ?? body.action;
  if (named === undefined) throw MatrixError.missingParam('action');
  const action = ACTIONS.find((candidate) => candidate === named);
  if (!action)
    throw inPath === undefined ? MatrixError.invalidParam('There is no such action.') : MatrixError.unrecognized();
  return action;
}
