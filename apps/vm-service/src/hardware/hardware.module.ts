import { Module } from '@nestjs/common';
import { Audit, BackendDirectory, InstanceDirectory, TaskRunner, Reservations } from '@headgate/domain-contracts';
import { ChangeHardware, MoveDisk, ReadHardware } from '@headgate/instances';
import { QueryBackends } from '../fleet/query-backends.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { HardwareController, HardwareExtensionsController } from './hardware.controller.js';
import { HostResourcesController, PlacementController } from './placement.controller.js';

/** The virtual hardware of VMs: size, disks, NICs, drives, boot order, autostart, placement, host devices. */
@Module({
  imports: [StoreModule, FleetModule, TasksModule, IdentityModule],
  controllers: [HardwareController, HardwareExtensionsController, PlacementController, HostResourcesController],
  providers: [
    provideClass(ChangeHardware, [InstanceDirectory, BackendDirectory, Audit, Reservations]),
    provideClass(MoveDisk, [InstanceDirectory, BackendDirectory, TaskRunner, Audit, Reservations]),
    provideClass(ReadHardware, [InstanceDirectory, BackendDirectory]),
    provideClass(QueryBackends, [BackendDirectory]),
  ],
})
export class HardwareModule {}
