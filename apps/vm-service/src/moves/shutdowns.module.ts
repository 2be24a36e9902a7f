import { Module } from '@nestjs/common';
import { PowerObserver, ShutdownTimes } from '@headgate/domain-contracts';
import { ShutdownEstimates } from '@headgate/moves';
import { FleetModule } from '../fleet/fleet.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { ObservedShutdowns } from './observed-shutdowns.js';

/** How long guests take to shut down: measured when users stop them, and used to estimate the downtime of moves. */
@Module({
  imports: [StoreModule, FleetModule],
  providers: [
    provideClass(ShutdownEstimates, [ShutdownTimes]),
    { provide: PowerObserver, useClass: ObservedShutdowns },
  ],
  exports: [ShutdownEstimates, PowerObserver],
})
export class ShutdownsModule {}
