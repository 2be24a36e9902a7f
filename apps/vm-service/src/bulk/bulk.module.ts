import { Module } from '@nestjs/common';
import { Audit, BackendDirectory, InstanceDirectory, TaskRunner } from '@headgate/domain-contracts';
import {
  ApplyContainerPower,
  ApplyPower,
  DeleteContainer,
  DeleteVm,
  MigrateVm,
  RunBulk,
  TagVm,
  type BulkDeps,
} from '@headgate/instances';
import { FleetModule } from '../fleet/fleet.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { BulkController } from './bulk.controller.js';

/** In the order of the factory's parameters. */
const DEPS = {
  directory: InstanceDirectory,
  tasks: TaskRunner,
  audit: Audit,
  applyPower: ApplyPower,
  applyContainerPower: ApplyContainerPower,
  migrateVm: MigrateVm,
  tagVm: TagVm,
  deleteVm: DeleteVm,
  deleteContainer: DeleteContainer,
} as const satisfies Record<keyof BulkDeps, unknown>;

/** Bulk tasks over the instances of all contexts. */
@Module({
  imports: [StoreModule, FleetModule, TasksModule],
  controllers: [BulkController],
  providers: [
    provideClass(DeleteVm, [InstanceDirectory, BackendDirectory, TaskRunner, Audit]),
    provideClass(ApplyPower, [InstanceDirectory, BackendDirectory, Audit]),
    provideClass(ApplyContainerPower, [InstanceDirectory, BackendDirectory, Audit]),
    provideClass(DeleteContainer, [InstanceDirectory, BackendDirectory, Audit]),
    provideClass(MigrateVm, [InstanceDirectory, BackendDirectory, TaskRunner, Audit]),
    provideClass(TagVm, [InstanceDirectory, BackendDirectory, Audit]),
    {
      provide: RunBulk,
      inject: Object.values(DEPS),
      useFactory: (...deps: unknown[]) =>
        new RunBulk(
          Object.fromEntries(Object.keys(DEPS).map((name, index) => [name, deps[index]])) as unknown as BulkDeps,
        ),
    },
  ],
})
export class BulkModule {}
