import { Module } from '@nestjs/common';
import { Audit, BackendDirectory, InstanceDirectory } from '@headgate/domain-contracts';
import { ApplyContainerPower, CreateContainer, DeleteContainer, PlaceInstance } from '@headgate/instances';
import { FleetModule } from '../fleet/fleet.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { ContainersController } from './containers.controller.js';

/** Containers: the list, creation, power, deletion. */
@Module({
  imports: [StoreModule, FleetModule],
  controllers: [ContainersController],
  providers: [
    provideClass(PlaceInstance, [BackendDirectory, InstanceDirectory]),
    provideClass(CreateContainer, [PlaceInstance, InstanceDirectory, Audit]),
    provideClass(DeleteContainer, [InstanceDirectory, BackendDirectory, Audit]),
    provideClass(ApplyContainerPower, [InstanceDirectory, BackendDirectory, Audit]),
  ],
  exports: [ApplyContainerPower, DeleteContainer],
})
export class ContainersModule {}
