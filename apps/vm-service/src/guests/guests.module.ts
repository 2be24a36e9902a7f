import { Module } from '@nestjs/common';
import { Audit, BackendDirectory, InstanceDirectory, Reservations } from '@headgate/domain-contracts';
import { ReadGuestInfo, RunGuestCommand, SetGuestPassword } from '@headgate/instances';
import { FleetModule } from '../fleet/fleet.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { GuestControlController } from './guest-control.controller.js';
import { GuestInfoController } from './guest-info.controller.js';

/** Running guests, through their agents: facts, passwords and programs. */
@Module({
  imports: [StoreModule, FleetModule],
  controllers: [GuestInfoController, GuestControlController],
  providers: [
    provideClass(ReadGuestInfo, [InstanceDirectory, BackendDirectory]),
    provideClass(SetGuestPassword, [InstanceDirectory, BackendDirectory, Audit, Reservations]),
    provideClass(RunGuestCommand, [InstanceDirectory, BackendDirectory, Audit, Reservations]),
  ],
})
export class GuestsModule {}
