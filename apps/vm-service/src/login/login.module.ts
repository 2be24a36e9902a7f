import { Module } from '@nestjs/common';
import { Clock } from '@headgate/domain-contracts';
import { LoginProgress } from '@headgate/login';
import { AccessModule } from '../access/access.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { provideClass } from '../platform/provide-class.js';
import { SETTINGS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { AccountsController } from './accounts.controller.js';
import { LoginController } from './login.controller.js';
import { LoginProviders } from './login-providers.js';
import { LoginRequests } from './login-requests.js';
import { OwnSessionsController } from './own-sessions.controller.js';
import { PasskeysController } from './passkeys.controller.js';
import { ProviderLoginController } from './provider-login.controller.js';
import { SessionsController } from './sessions.controller.js';

/** The login of users, their sessions, and the accounts of the service. */
@Module({
  imports: [StoreModule, AccessModule, IdentityModule],
  controllers: [
    LoginController,
    PasskeysController,
    ProviderLoginController,
    OwnSessionsController,
    SessionsController,
    AccountsController,
  ],
  providers: [LoginRequests, provideClass(LoginProviders, [SETTINGS, Clock]), provideClass(LoginProgress, [Clock])],
})
export class LoginModule {}
