import { Module } from '@nestjs/common';
import { ApiTokens, CreateToken, RevokeToken } from '@headgate/access';
import { ApiTokenStore, Audit, Clock } from '@headgate/domain-contracts';
import { AccessModule } from '../access/access.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { TokensController } from './tokens.controller.js';

/** The administration of API tokens. */
@Module({
  imports: [StoreModule, AccessModule, IdentityModule],
  controllers: [TokensController],
  providers: [
    provideClass(CreateToken, [ApiTokenStore, Clock, Audit]),
    provideClass(RevokeToken, [ApiTokens, ApiTokenStore, Audit]),
  ],
})
export class TokensModule {}
