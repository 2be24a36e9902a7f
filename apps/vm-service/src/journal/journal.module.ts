import { Module } from '@nestjs/common';
import { FleetModule } from '../fleet/fleet.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { StoreModule } from '../store/store.module.js';
import { ActivityController } from './activity.controller.js';
import { JournalController } from './journal.controller.js';
import { RequestRecorder } from './request-recorder.js';

/** The audit log of the whole fleet, and the requests that belong into it. */
@Module({
  imports: [StoreModule, FleetModule, IdentityModule],
  controllers: [JournalController, ActivityController],
  providers: [RequestRecorder],
})
export class JournalModule {}
