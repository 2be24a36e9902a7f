import { Module } from '@nestjs/common';
import { Audit, BackendDirectory, FolderDirectory, InstanceDirectory, Reservations } from '@headgate/domain-contracts';
import { ApplyContainerPower, CreateContainer, DeleteContainer, PlaceInstance } from '@headgate/instances';
import { FleetModule } from '../fleet/fleet.module.js';
import { FolderTreeModule } from '../folder-tree/folder-tree.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { ContainersController } from './containers.controller.js';

/** Containers: the list, creation, power, deletion. */
@Module({
  imports: [StoreModule, FleetModule, FolderTreeModule],
  controllers: [ContainersController],
  providers: [
    provideClass(PlaceInstance, [BackendDirectory, InstanceDirectory]),
    provideClass(CreateContainer, [PlaceInstance, InstanceDirectory, Audit, Reservations]),
    provideClass(DeleteContainer, [InstanceDirectory, BackendDirectory, Audit, Reservations, FolderDirectory]),
    provideClass(ApplyContainerPower, [InstanceDirectory, BackendDirectory, Audit, Reservations]),
  ],
  exports: [ApplyContainerPower, DeleteContainer],
})
export class ContainersModule {}
