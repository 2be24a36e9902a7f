import { Module, type BeforeApplicationShutdown } from '@nestjs/common';
import { Audit, BackendDirectory, InstanceDirectory } from '@headgate/domain-contracts';
import { ExportDisk } from '@headgate/instances';
import { FleetModule } from '../fleet/fleet.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { ExportController } from './export.controller.js';

/** Disk exports. */
@Module({
  imports: [StoreModule, FleetModule],
  controllers: [ExportController],
  providers: [provideClass(ExportDisk, [InstanceDirectory, BackendDirectory, Audit])],
})
export class ExportModule implements BeforeApplicationShutdown {
  constructor(private readonly exportDisk: ExportDisk) {}

  beforeApplicationShutdown(): void {
    this.exportDisk.close();
  }
}
