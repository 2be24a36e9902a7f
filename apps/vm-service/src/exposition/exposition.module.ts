import { Module } from '@nestjs/common';
import { FleetModule } from '../fleet/fleet.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { MetricsController } from './metrics.controller.js';
import { MetricsSnapshot } from './metrics-snapshot.js';

/** The metrics at `/metrics`. */
@Module({
  imports: [FleetModule, TasksModule],
  controllers: [MetricsController],
  providers: [MetricsSnapshot],
})
export class ExpositionModule {}
