import { Module } from '@nestjs/common';
import { Audit, BackendDirectory, Clock, Reservations, TaskRunner } from '@headgate/domain-contracts';
import {
  InstanceRecords,
  ListDestinations,
  MoveMembers,
  MoveTask,
  PlanMove,
  PlanQueue,
  ShutdownEstimates,
  StartMove,
  StartQueue,
  Throughput,
} from '@headgate/moves';
import { FleetModule } from '../fleet/fleet.module.js';
import { FolderTreeModule } from '../folder-tree/folder-tree.module.js';
import { InstancesModule } from '../instances/instances.module.js';
import { INSTANCE_SOURCES } from '../platform/instance-tokens.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { MovesController } from './moves.controller.js';
import { MigratedInstances } from './migrated-instances.js';
import { ServiceRecords } from './service-records.js';

/** Moves of VMs and containers between contexts. */
@Module({
  imports: [StoreModule, FleetModule, FolderTreeModule, InstancesModule, TasksModule],
  controllers: [MovesController],
  providers: [
    Throughput,
    { provide: InstanceRecords, useClass: ServiceRecords },
    MigratedInstances,
    provideClass(ListDestinations, [BackendDirectory]),
    provideDeps(PlanMove, {
      ...INSTANCE_SOURCES,
      reservations: Reservations,
      throughput: Throughput,
      shutdowns: ShutdownEstimates,
    }),
    provideDeps(MoveTask, {
      ...INSTANCE_SOURCES,
      records: InstanceRecords,
      audit: Audit,
      throughput: Throughput,
      shutdowns: ShutdownEstimates,
      clock: Clock,
    }),
    {
      provide: StartMove,
      inject: [PlanMove, MoveTask, TaskRunner, BackendDirectory, Reservations, Audit],
      useFactory: (
        planMove: PlanMove,
        task: MoveTask,
        tasks: TaskRunner,
        backends: BackendDirectory,
        reservations: Reservations,
        audit: Audit,
      ) =>
        // Registered while the service is created, so that interrupted moves are continued when it starts.
        new StartMove({ planMove, task: tasks.define(task), backends, reservations, audit }),
    },
    provideClass(PlanQueue, [PlanMove, Throughput]),
    provideClass(MoveMembers, [StartMove, BackendDirectory]),
    provideClass(StartQueue, [PlanQueue, TaskRunner, MoveMembers]),
  ],
})
export class MovesModule {}
