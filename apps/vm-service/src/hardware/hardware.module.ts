import { Module } from '@nestjs/common';
import { BackendDirectory, TaskRunner } from '@headgate/domain-contracts';
import { ChangeHardware, ChangeHardwareTogether, MoveDisk, ReadHardware } from '@headgate/instances';
import { QueryBackends } from '../fleet/query-backends.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { INSTANCE_CHANGE, INSTANCE_SOURCES } from '../platform/instance-tokens.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { ContainerHardwareController, HardwareChangesController } from './hardware-changes.controller.js';
import { HardwareController, HardwareExtensionsController } from './hardware.controller.js';
import { HostResourcesController, PlacementController } from './placement.controller.js';

/**
 * The virtual hardware of VMs: size, disks, NICs, drives, boot order, autostart, placement, host devices. The limits of
 * containers.
 */
@Module({
  imports: [StoreModule, FleetModule, TasksModule, IdentityModule],
  controllers: [
    HardwareController,
    HardwareExtensionsController,
    HardwareChangesController,
    ContainerHardwareController,
    PlacementController,
    HostResourcesController,
  ],
  providers: [
    provideDeps(ChangeHardware, INSTANCE_CHANGE),
    provideDeps(ChangeHardwareTogether, INSTANCE_CHANGE),
    provideDeps(MoveDisk, { ...INSTANCE_CHANGE, tasks: TaskRunner }),
    provideDeps(ReadHardware, INSTANCE_SOURCES),
    provideClass(QueryBackends, [BackendDirectory]),
  ],
  exports: [ChangeHardwareTogether],
})
export class HardwareModule {}
