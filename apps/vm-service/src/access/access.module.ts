import { Module } from '@nestjs/common';
import { ApiTokens, CallerConnections, Roles } from '@headgate/access';
import { AddedContextStore, ApiTokenStore, Clock, RoleStore } from '@headgate/domain-contracts';
import { Folders } from '@headgate/folders';
import type { Settings } from '../config/load-config.js';
import { FolderTreeModule } from '../folder-tree/folder-tree.module.js';
import { provideClass } from '../platform/provide-class.js';
import { SETTINGS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { ServicePlaces } from './service-places.js';

/** The API tokens and the roles, for everything that identifies callers or keeps connections open for them. */
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
    provideClass(CallerConnections, [ApiTokens, Roles]),
  ],
  exports: [ApiTokens, CallerConnections, Roles, ServicePlaces],
})
export class AccessModule {}
