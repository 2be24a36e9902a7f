import { Module } from '@nestjs/common';
import { ApiTokens, CreateDeviceToken, CreateToken, RevokeToken, type CreatedToken } from '@headgate/access';
import { ApiTokenStore, Audit, Clock, DeviceLoginStore } from '@headgate/domain-contracts';
import { DeviceLogins, LoginAttempts, LoginKeys, LoginProgress } from '@headgate/login';
import { AccessModule } from '../access/access.module.js';
import { KnownUsers } from '../access/known-users.js';
import { Admission } from '../identity/admission.js';
import { IdentityModule } from '../identity/identity.module.js';
import { provideClass } from '../platform/provide-class.js';
import { SETTINGS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { AccountsController } from './accounts.controller.js';
import { DeviceLoginController } from './device-login.controller.js';
import { DeviceRequests } from './device-requests.js';
import { issueDeviceToken } from './issue-device-token.js';
import { LoginController } from './login.controller.js';
import { LoginProviders } from './login-providers.js';
import { LoginRequests } from './login-requests.js';
import { OwnDevicesController } from './own-devices.controller.js';
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
    DeviceLoginController,
    OwnDevicesController,
    OwnSessionsController,
    SessionsController,
    AccountsController,
  ],
  providers: [
    LoginRequests,
    DeviceRequests,
    provideClass(LoginProviders, [SETTINGS, Clock]),
    provideClass(LoginProgress, [Clock, LoginKeys]),
    provideClass(CreateToken, [ApiTokenStore, Clock, Audit]),
    provideClass(CreateDeviceToken, [CreateToken]),
    {
      provide: DeviceLogins,
      inject: [DeviceLoginStore, Clock, Audit, KnownUsers, CreateToken, CreateDeviceToken, Admission],
      useFactory: (
        store: DeviceLoginStore,
        clock: Clock,
        audit: Audit,
        users: KnownUsers,
        createToken: CreateToken,
        createDeviceToken: CreateDeviceToken,
        admission: Admission,
      ) =>
        new DeviceLogins<CreatedToken>({
          store,
          // Apart from those of passwords: a user who mistypes a code can still log in.
          begins: new LoginAttempts(clock),
          guesses: new LoginAttempts(clock),
          clock,
          audit,
          isGone: (login) => users.isGone(login),
          expectRoom: (login) => createToken.expectRoomForDevice(login),
          issue: issueDeviceToken(createDeviceToken, admission),
        }),
    },
    provideClass(RevokeToken, [ApiTokens, ApiTokenStore, Audit]),
  ],
})
export class LoginModule {}
