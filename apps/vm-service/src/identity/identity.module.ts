import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { provideClass } from '../platform/provide-class.js';
import type { Settings } from '../config/load-config.js';
import { PEER_USERS, SETTINGS } from '../platform/tokens.js';
import { CallerIdentity } from './caller-identity.js';
import { CallerResolver } from './caller-resolver.js';
import { EdgeGuard } from './edge.guard.js';
import { EdgePolicy } from './edge-policy.js';
import { IdentityGuard } from './identity.guard.js';
import { LocalTrust } from './local-trust.js';
import type { PeerUsers } from './peer-users.js';
import { WhoamiController } from './whoami.controller.js';

/** Who the caller is and what they may do. The guards run in this order, before every route. */
@Module({
  controllers: [WhoamiController],
  providers: [
    {
      provide: LocalTrust,
      inject: [SETTINGS, PEER_USERS],
      useFactory: (settings: Settings, peers: PeerUsers) => new LocalTrust(settings, peers),
    },
    provideClass(CallerIdentity, [SETTINGS, LocalTrust]),
    { provide: CallerResolver, useExisting: CallerIdentity },
    provideClass(EdgePolicy, [SETTINGS]),
    { provide: APP_GUARD, useClass: EdgeGuard },
    { provide: APP_GUARD, useClass: IdentityGuard },
  ],
  exports: [CallerResolver, LocalTrust],
})
export class IdentityModule {}
