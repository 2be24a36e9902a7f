import { Module } from '@nestjs/common';
import { Audit, BackendDirectory, InstanceDirectory } from '@headgate/domain-contracts';
import { ChangeHardware, ReadHardware } from '@headgate/instances';
import { FleetModule } from '../fleet/fleet.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { HardwareController, HardwareExtensionsController } from './hardware.controller.js';

/** The virtual hardware of VMs: size, disks, NICs, drives, boot order, autostart. */
@Module({
  imports: [StoreModule, FleetModule],
  controllers: [HardwareController, HardwareExtensionsController],
  providers: [
    provideClass(ChangeHardware, [InstanceDirectory, BackendDirectory, Audit]),
    provideClass(ReadHardware, [InstanceDirectory, BackendDirectory]),
  ],
})
export class HardwareModule {}
