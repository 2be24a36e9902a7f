import { Module } from '@nestjs/common';
import { BackendDirectory, FolderDirectory, InstanceDirectory } from '@headgate/domain-contracts';
import { ApplyContainerPower, CreateContainer, DeleteContainer, PlaceInstance } from '@headgate/instances';
import { FleetModule } from '../fleet/fleet.module.js';
import { FolderTreeModule } from '../folder-tree/folder-tree.module.js';
import { INSTANCE_CHANGE } from '../platform/instance-tokens.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { StoreModule } from '../store/store.module.js';
import { ContainersController } from './containers.controller.js';

/** Containers: the list, creation, power, deletion. */
@Module({
  imports: [StoreModule, FleetModule, FolderTreeModule],
  controllers: [ContainersController],
  providers: [
    provideClass(PlaceInstance, [BackendDirectory, InstanceDirectory]),
    provideDeps(CreateContainer, { ...INSTANCE_CHANGE, place: PlaceInstance }),
    provideDeps(DeleteContainer, { ...INSTANCE_CHANGE, folders: FolderDirectory }),
    provideDeps(ApplyContainerPower, INSTANCE_CHANGE),
  ],
  exports: [ApplyContainerPower, DeleteContainer],
})
export class ContainersModule {}
