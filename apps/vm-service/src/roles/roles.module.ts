import { Module } from '@nestjs/common';
import { AssignRole, ChangeRole, RemoveRole, RoleAdministration } from '@headgate/access';
import { Audit, Clock, RoleStore } from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import { AccessModule } from '../access/access.module.js';
import { ServicePlaces } from '../access/service-places.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { CallerIdentity } from '../identity/caller-identity.js';
import { IdentityModule } from '../identity/identity.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { AccessController } from './access.controller.js';
import { RolesController } from './roles.controller.js';

/** The roles of users and groups that administrators assign while the service runs, and who may do what. */
@Module({
  imports: [StoreModule, AccessModule, FleetModule, IdentityModule],
  controllers: [RolesController, AccessController],
  providers: [
    {
      provide: RoleAdministration,
      inject: [RoleStore, CallerIdentity, ServicePlaces, FleetReader, Clock, Audit],
      useFactory: (
        store: RoleStore,
        { rights }: CallerIdentity,
        places: ServicePlaces,
        fleet: FleetReader,
        clock: Clock,
        audit: Audit,
      ) => {
        const hasContext = (name: string): boolean => fleet.states().some(({ context }) => context === name);
        return new RoleAdministration({ store, rights, places, hasContext, clock, audit });
      },
    },
    provideClass(AssignRole, [RoleAdministration]),
    provideClass(ChangeRole, [RoleAdministration]),
    provideClass(RemoveRole, [RoleAdministration]),
  ],
})
export class RolesModule {}
