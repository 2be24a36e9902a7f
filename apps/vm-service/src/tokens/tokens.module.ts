import { Module } from '@nestjs/common';
import { ApiTokens, ChangeToken, CreateToken, RevokeToken, RotateToken } from '@headgate/access';
import { ApiTokenStore, Audit, Clock } from '@headgate/domain-contracts';
import { AccessModule } from '../access/access.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { StoreModule } from '../store/store.module.js';
import { TokensController } from './tokens.controller.js';

const TOKEN_CHANGE = { tokens: ApiTokens, store: ApiTokenStore, clock: Clock, audit: Audit };

/** The administration of API tokens. */
@Module({
  imports: [StoreModule, AccessModule, IdentityModule],
  controllers: [TokensController],
  providers: [
    provideClass(CreateToken, [ApiTokenStore, Clock, Audit]),
    provideDeps(ChangeToken, TOKEN_CHANGE),
    provideDeps(RotateToken, TOKEN_CHANGE),
    provideClass(RevokeToken, [ApiTokens, ApiTokenStore, Audit]),
  ],
})
export class TokensModule {}
