import { Module, type BeforeApplicationShutdown } from '@nestjs/common';
import { Audit, BackendDirectory, InstanceDirectory, Reservations } from '@headgate/domain-contracts';
import { DeleteCheckpoint, ExportDisk, ListCheckpoints } from '@headgate/instances';
import { FleetModule } from '../fleet/fleet.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { CheckpointsController } from './checkpoints.controller.js';
import { ExportController } from './export.controller.js';

/** Disk exports, and the checkpoints that they create. */
@Module({
  imports: [StoreModule, FleetModule, IdentityModule],
  controllers: [ExportController, CheckpointsController],
  providers: [
    provideClass(ExportDisk, [InstanceDirectory, BackendDirectory, Audit, Reservations]),
    provideClass(ListCheckpoints, [InstanceDirectory, BackendDirectory]),
    provideClass(DeleteCheckpoint, [InstanceDirectory, BackendDirectory, Audit, Reservations]),
  ],
})
export class ExportModule implements BeforeApplicationShutdown {
  constructor(private readonly exportDisk: ExportDisk) {}

  beforeApplicationShutdown(): void {
    this.exportDisk.close();
  }
}
