import { Module, type BeforeApplicationShutdown } from '@nestjs/common';
import { DeleteCheckpoint, ExportDisk, ListCheckpoints } from '@headgate/instances';
import { FleetModule } from '../fleet/fleet.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { INSTANCE_CHANGE, INSTANCE_SOURCES } from '../platform/instance-tokens.js';
import { provideDeps } from '../platform/provide-deps.js';
import { StoreModule } from '../store/store.module.js';
import { CheckpointsController } from './checkpoints.controller.js';
import { ExportController } from './export.controller.js';

/** Disk exports, and the checkpoints that they create. */
@Module({
  imports: [StoreModule, FleetModule, IdentityModule],
  controllers: [ExportController, CheckpointsController],
  providers: [
    provideDeps(ExportDisk, INSTANCE_CHANGE),
    provideDeps(ListCheckpoints, INSTANCE_SOURCES),
    provideDeps(DeleteCheckpoint, INSTANCE_CHANGE),
  ],
})
export class ExportModule implements BeforeApplicationShutdown {
  constructor(private readonly exportDisk: ExportDisk) {}

  beforeApplicationShutdown(): void {
    this.exportDisk.close();
  }
}
