import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { provideClass } from '../platform/provide-class.js';
import { SETTINGS } from '../platform/tokens.js';
import { CallerIdentity } from './caller-identity.js';
import { CallerResolver } from './caller-resolver.js';
import { EdgeGuard } from './edge.guard.js';
import { EdgePolicy } from './edge-policy.js';
import { IdentityGuard } from './identity.guard.js';
import { WhoamiController } from './whoami.controller.js';

/** Who the caller is and what they may do. The guards run in this order, before every route. */
@Module({
  controllers: [WhoamiController],
  providers: [
    provideClass(CallerIdentity, [SETTINGS]),
    { provide: CallerResolver, useExisting: CallerIdentity },
    provideClass(EdgePolicy, [SETTINGS]),
    { provide: APP_GUARD, useClass: EdgeGuard },
    { provide: APP_GUARD, useClass: IdentityGuard },
  ],
  exports: [CallerResolver],
})
export class IdentityModule {}
