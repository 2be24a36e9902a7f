import { type MatrixRequest, ok } from '@headgate/homeserver-contracts';
import { Injectable } from '@nestjs/common';
import { EmbeddedOptions } from './embedded-options.js';
import { EmbeddedIdentity } from './accounts/embedded-identity.js';
import { Handlers } from './handlers.js';
import { ROOM_VERSION } from './rooms/room-request.js';

/** The versions and capabilities of the server. It advertises nothing that it lacks. */
@Injectable()
export class ServerHandlers extends Handlers {
  constructor(
    private readonly options: EmbeddedOptions,
    private readonly identity: EmbeddedIdentity,
  ) {
    super();
  }

  override readonly handlers = {
    versions: () =>
      ok({
        versions: ['v1.11'],
        unstable_features: { 'org.matrix.msc4140': true, 'org.matrix.msc3391': true },
      }),
    capabilities: (request: MatrixRequest) => {
      this.identity.require(request);
      const { maxDelayMs, maxPerRoom } = this.options.delayedEvents();
      const delayed = { max_delay_ms: maxDelayMs, max_scheduled: maxPerRoom };
      return ok({
        capabilities: {
          'm.room_versions': { default: ROOM_VERSION, available: { [ROOM_VERSION]: 'stable' } },
          'm.change_password': { enabled: false },
          'm.delayed_events': delayed,
          'org.matrix.msc4140.delayed_events': delayed,
        },
      });
    },
    wellKnownClient: (request: MatrixRequest) => {
      const base = `${request.raw.headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'}://${request.raw.headers.host}`;
      const foci = [{ type: 'livekit', livekit_service_url: `${base}/_svc/rtc/media` }];
      return ok({
        'm.homeserver': { base_url: base },
        ...(this.options.callService.url !== undefined && { 'org.matrix.msc4143.rtc_foci': foci }),
      });
    },
    pushRules: (request: MatrixRequest) => {
      this.identity.require(request);
      return ok({ global: { override: [], content: [], room: [], sender: [], underride: [] } });
    },
  };
}
