import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ApiTokens, CallerConnections, KnownGroups, Roles } from '@headgate/access';
import { FolderDirectory, InstanceDirectory } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import { Sessions } from '@headgate/login';
import { DryRunGuard } from '../platform/dry-run.guard.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import type { Settings } from '../config/load-config.js';
import { PEER_USERS, SETTINGS } from '../platform/tokens.js';
import { AccessModule } from '../access/access.module.js';
import { KnownUsers } from '../access/known-users.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { FolderTreeModule } from '../folder-tree/folder-tree.module.js';
import { AccessGuard } from './access.guard.js';
import { Admission } from './admission.js';
import { BrowserSessions } from './browser-sessions.js';
import { CallerIdentity } from './caller-identity.js';
import { CallerResolver } from './caller-resolver.js';
import { EdgeGuard } from './edge.guard.js';
import { EdgePolicy } from './edge-policy.js';
import { HttpsRedirect } from './https-redirect.js';
import { IdentityGuard } from './identity.guard.js';
import { InstanceAccess } from './instance-access.js';
import { InstanceConnections } from './instance-connections.js';
import { LocalTrust } from './local-trust.js';
import type { PeerUsers } from '../platform/peer-users.js';
import { SecureConnection } from './secure-connection.js';
import { RequestTargets } from './request-targets.js';
import { WhoamiController } from './whoami.controller.js';

/**
 * Who the caller is and what they may do. The guards run in this order, before every route; the last one refuses dry
 * runs where there are none.
 */
@Module({
  imports: [AccessModule, FleetModule, FolderTreeModule],
  controllers: [WhoamiController],
  providers: [
    {
      provide: LocalTrust,
      inject: [SETTINGS, PEER_USERS],
      useFactory: (settings: Settings, peers: PeerUsers) => new LocalTrust(settings, peers),
    },
    provideClass(CallerIdentity, [SETTINGS, LocalTrust, Roles, KnownUsers, KnownGroups]),
    provideClass(SecureConnection, [SETTINGS, CallerIdentity]),
    provideClass(BrowserSessions, [SETTINGS, Sessions, SecureConnection]),
    provideDeps(Admission, {
      identity: CallerIdentity,
      tokens: ApiTokens,
      roles: Roles,
      directory: InstanceDirectory,
      instances: InstanceAccess,
      browsers: BrowserSessions,
      edge: EdgePolicy,
    }),
    { provide: CallerResolver, useExisting: Admission },
    provideClass(InstanceAccess, [FleetReader, InstanceDirectory, FolderDirectory]),
    provideClass(InstanceConnections, [CallerConnections, InstanceAccess, FleetReader]),
    provideClass(RequestTargets, [InstanceAccess]),
    provideClass(EdgePolicy, [SETTINGS]),
    HttpsRedirect,
    { provide: APP_GUARD, useClass: EdgeGuard },
    { provide: APP_GUARD, useClass: IdentityGuard },
    { provide: APP_GUARD, useClass: AccessGuard },
    { provide: APP_GUARD, useClass: DryRunGuard },
  ],
  exports: [
    Admission,
    BrowserSessions,
    CallerResolver,
    CallerIdentity,
    SecureConnection,
    EdgePolicy,
    LocalTrust,
    InstanceAccess,
    InstanceConnections,
  ],
})
export class IdentityModule {}
