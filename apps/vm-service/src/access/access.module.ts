import { Module } from '@nestjs/common';
import { ApiTokens, Roles } from '@headgate/access';
import { ApiTokenStore, Clock } from '@headgate/domain-contracts';
import type { Settings } from '../config/load-config.js';
import { provideClass } from '../platform/provide-class.js';
import { SETTINGS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';

/** The API tokens and the roles, for everything that identifies callers or keeps connections open for them. */
@Module({
  imports: [StoreModule],
  providers: [
    provideClass(ApiTokens, [ApiTokenStore, Clock]),
    { provide: Roles, inject: [SETTINGS], useFactory: ({ roles }: Settings) => new Roles(roles) },
  ],
  exports: [ApiTokens, Roles],
})
export class AccessModule {}
