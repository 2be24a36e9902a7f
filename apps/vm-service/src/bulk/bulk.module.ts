import { Module } from '@nestjs/common';
import { Audit, Clock, InstanceDirectory, TaskRunner } from '@headgate/domain-contracts';
import { InstanceActions, RunBulk } from '@headgate/instances';
import { FleetModule } from '../fleet/fleet.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { BulkController } from './bulk.controller.js';
import { InstanceActionsModule } from './instance-actions.module.js';

/** Bulk tasks over the instances of all contexts. */
@Module({
  imports: [StoreModule, FleetModule, TasksModule, InstanceActionsModule],
  controllers: [BulkController],
  providers: [provideClass(RunBulk, [TaskRunner, InstanceActions, Audit, Clock, InstanceDirectory])],
  exports: [RunBulk],
})
export class BulkModule {}
