import { Module } from '@nestjs/common';
import { ReadGuestInfo, RunGuestCommand, SetGuestPassword } from '@headgate/instances';
import { FleetModule } from '../fleet/fleet.module.js';
import { INSTANCE_CHANGE, INSTANCE_SOURCES } from '../platform/instance-tokens.js';
import { provideDeps } from '../platform/provide-deps.js';
import { StoreModule } from '../store/store.module.js';
import { GuestControlController } from './guest-control.controller.js';
import { GuestInfoController } from './guest-info.controller.js';

/** Running guests, through their agents: facts, passwords and programs. */
@Module({
  imports: [StoreModule, FleetModule],
  controllers: [GuestInfoController, GuestControlController],
  providers: [
    provideDeps(ReadGuestInfo, INSTANCE_SOURCES),
    provideDeps(SetGuestPassword, INSTANCE_CHANGE),
    provideDeps(RunGuestCommand, INSTANCE_CHANGE),
  ],
})
export class GuestsModule {}
