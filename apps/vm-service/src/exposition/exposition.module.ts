import { Module } from '@nestjs/common';
import { CheckBackends } from '@headgate/doctor';
import { BackendDirectory } from '@headgate/domain-contracts';
import { FolderTreeModule } from '../folder-tree/folder-tree.module.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { GzipBlocks } from '../fleet/gzip/gzip-blocks.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { MetricsController } from './metrics.controller.js';
import { MetricsSnapshot } from './metrics-snapshot.js';

/** The metrics at `/metrics`. */
@Module({
  imports: [FolderTreeModule, FleetModule, StoreModule, TasksModule],
  controllers: [MetricsController],
  providers: [MetricsSnapshot, GzipBlocks, provideClass(CheckBackends, [BackendDirectory])],
})
export class ExpositionModule {}
