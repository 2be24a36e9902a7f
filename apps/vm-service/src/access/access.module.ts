import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { ApiTokens, CallerConnections, KnownGroups, RevokeTokensOf, Roles } from '@headgate/access';
import {
  AccountStore,
  AddedContextStore,
  ApiTokenStore,
  Audit,
  Clock,
  DeviceLoginStore,
  LoginSessionStore,
  RoleStore,
  UserGroupsStore,
  type Log,
} from '@headgate/domain-contracts';
import { Folders } from '@headgate/folders';
import {
  Accounts,
  dropDeviceLoginsOf,
  LoginAttempts,
  LoginKeys,
  PasskeyCeremony,
  PasskeyChallenges,
  Passkeys,
  Passwords,
  Sessions,
  type AccountsDeps,
} from '@headgate/login';
import type { Settings } from '../config/load-config.js';
import { LoginSection } from '../config/login-section.js';
import { FolderTreeModule } from '../folder-tree/folder-tree.module.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { LOGGER, SETTINGS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { KnownUsers } from './known-users.js';
import { loadLoginKeys } from './load-login-keys.js';
import { ServicePlaces } from './service-places.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const REVOKE_TOKENS = Symbol('REVOKE_TOKENS');

const revokeTokens =
  (tokens: RevokeTokensOf, devices: DeviceLoginStore, groups: KnownGroups): AccountsDeps['revokeTokens'] =>
  async (login, author) => {
    await groups.forget(login);
    await dropDeviceLoginsOf(devices, login);
    await tokens.run(login, author);
  };

/** The API tokens, sessions, accounts and roles, for everything that identifies callers or keeps connections open. */
@Module({
  imports: [StoreModule, FolderTreeModule],
  providers: [
    provideClass(ApiTokens, [ApiTokenStore, Clock]),
    provideClass(ServicePlaces, [Folders, AddedContextStore]),
    {
      provide: Roles,
      inject: [SETTINGS, RoleStore, ServicePlaces],
      useFactory: ({ roles }: Settings, store: RoleStore, places: ServicePlaces) => new Roles(roles, store, places),
    },
    {
      provide: KnownGroups,
      inject: [UserGroupsStore, Clock, SETTINGS, LOGGER],
      useFactory: (store: UserGroupsStore, clock: Clock, { groupDays }: Settings, log: Log) =>
        new KnownGroups(store, clock, { days: groupDays, log }),
    },
    {
      provide: Sessions,
      inject: [LoginSessionStore, Clock, SETTINGS],
      useFactory: (store: LoginSessionStore, clock: Clock, { login = new LoginSection() }: Settings) =>
        new Sessions(store, clock, { idleMs: login.idleMinutes * MINUTE_MS, totalMs: login.hours * HOUR_MS }),
    },
    provideClass(LoginAttempts, [Clock]),
    { provide: LoginKeys, inject: [SETTINGS], useFactory: (settings: Settings) => loadLoginKeys(settings) },
    provideClass(Passwords, []),
    provideDeps(RevokeTokensOf, { tokens: ApiTokens, store: ApiTokenStore, audit: Audit }),
    { provide: REVOKE_TOKENS, inject: [RevokeTokensOf, DeviceLoginStore, KnownGroups], useFactory: revokeTokens },
    provideDeps(Accounts, {
      store: AccountStore,
      sessions: Sessions,
      passwords: Passwords,
      attempts: LoginAttempts,
      clock: Clock,
      audit: Audit,
      keys: LoginKeys,
      revokeTokens: REVOKE_TOKENS,
    }),
    provideClass(PasskeyChallenges, [Clock, LoginKeys]),
    {
      provide: PasskeyCeremony,
      inject: [SETTINGS],
      useFactory: ({ login }: Settings) =>
        login?.address === undefined ? undefined : new PasskeyCeremony(new URL(login.address)),
    },
    provideDeps(Passkeys, {
      store: AccountStore,
      accounts: Accounts,
      sessions: Sessions,
      attempts: LoginAttempts,
      challenges: PasskeyChallenges,
      ceremony: PasskeyCeremony,
      clock: Clock,
      audit: Audit,
    }),
    provideClass(KnownUsers, [SETTINGS, Accounts]),
    provideClass(CallerConnections, [ApiTokens, Sessions, Roles, KnownGroups]),
  ],
  exports: [
    ApiTokens,
    LoginKeys,
    CallerConnections,
    KnownGroups,
    Roles,
    ServicePlaces,
    Sessions,
    Accounts,
    Passkeys,
    Passwords,
    KnownUsers,
  ],
})
export class AccessModule implements OnApplicationShutdown {
  constructor(private readonly groups: KnownGroups) {}

  onApplicationShutdown(): void {
    this.groups.close();
  }
}
