import { Module } from '@nestjs/common';
import { Audit, BackendDirectory, InstanceDirectory, TaskRunner } from '@headgate/domain-contracts';
import { ChangeHardware, MoveDisk, ReadHardware } from '@headgate/instances';
import { FleetModule } from '../fleet/fleet.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { HardwareController, HardwareExtensionsController } from './hardware.controller.js';

/** The virtual hardware of VMs: size, disks, NICs, drives, boot order, autostart. */
@Module({
  imports: [StoreModule, FleetModule, TasksModule],
  controllers: [HardwareController, HardwareExtensionsController],
  providers: [
    provideClass(ChangeHardware, [InstanceDirectory, BackendDirectory, Audit]),
    provideClass(MoveDisk, [InstanceDirectory, BackendDirectory, TaskRunner, Audit]),
    provideClass(ReadHardware, [InstanceDirectory, BackendDirectory]),
  ],
})
export class HardwareModule {}
