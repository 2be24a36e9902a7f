import { Module } from '@nestjs/common';
import {
  Audit,
  BackendDirectory,
  Clock,
  InstanceDirectory,
  messageOf,
  Replicas,
  SharedTaskStore,
  TaskRunner,
  TaskStore,
  type Log,
} from '@headgate/domain-contracts';
import {
  InstanceRecords,
  ListDestinations,
  MoveMembers,
  MovesInProgress,
  MoveTask,
  PlanMove,
  PlanQueue,
  ShutdownEstimates,
  StartMove,
  StartQueue,
  Throughput,
} from '@headgate/moves';
import { TaskBoard } from '@headgate/tasks';
import { FleetModule } from '../fleet/fleet.module.js';
import { FolderTreeModule } from '../folders/folder-tree.module.js';
import { InstancesModule } from '../instances/instances.module.js';
import { provideClass } from '../platform/provide-class.js';
import { LOGGER } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { MovesController } from './moves.controller.js';
import { MigratedInstances } from './migrated-instances.js';
import { ServiceRecords } from './service-records.js';

/** Moves of VMs between contexts. */
@Module({
  imports: [StoreModule, FleetModule, FolderTreeModule, InstancesModule, TasksModule],
  controllers: [MovesController],
  providers: [
    {
      provide: MovesInProgress,
      inject: [TaskBoard, TaskStore, Replicas, LOGGER],
      useFactory: (tasks: TaskBoard, store: TaskStore, replicas: Replicas, log: Log) => {
        const inProgress = new MovesInProgress(
          (id) => tasks.get(id).status === 'running',
          (ref) => store instanceof SharedTaskStore && store.isRunning('move', ref),
          replicas,
        );
        tasks.onEnd(({ id, kind, ref }) => {
          if (kind !== 'move') return;
          inProgress
            .end(ref, id)
            .catch((error: unknown) =>
              log.warn({ ref, reason: messageOf(error) }, 'the claim of a move was not released'),
            );
        });
        return inProgress;
      },
    },
    Throughput,
    { provide: InstanceRecords, useClass: ServiceRecords },
    MigratedInstances,
    provideClass(ListDestinations, [BackendDirectory]),
    {
      provide: PlanMove,
      inject: [InstanceDirectory, BackendDirectory, MovesInProgress, Throughput, ShutdownEstimates],
      useFactory: (
        directory: InstanceDirectory,
        backends: BackendDirectory,
        inProgress: MovesInProgress,
        throughput: Throughput,
        shutdowns: ShutdownEstimates,
      ) => new PlanMove({ directory, backends, inProgress, throughput, shutdowns }),
    },
    {
      provide: MoveTask,
      inject: [
        InstanceDirectory,
        BackendDirectory,
        InstanceRecords,
        Audit,
        MovesInProgress,
        Throughput,
        ShutdownEstimates,
        Clock,
      ],
      useFactory: (
        directory: InstanceDirectory,
        backends: BackendDirectory,
        records: InstanceRecords,
        audit: Audit,
        inProgress: MovesInProgress,
        throughput: Throughput,
        shutdowns: ShutdownEstimates,
        clock: Clock,
      ) => new MoveTask({ directory, backends, records, audit, inProgress, throughput, shutdowns, clock }),
    },
    {
      provide: StartMove,
      inject: [PlanMove, MoveTask, TaskRunner, MovesInProgress, Audit],
      useFactory: (plan: PlanMove, task: MoveTask, tasks: TaskRunner, inProgress: MovesInProgress, audit: Audit) =>
        // Registered while the service is created, so that interrupted moves are continued when it starts.
        new StartMove(plan, tasks.define(task), inProgress, audit),
    },
    provideClass(PlanQueue, [PlanMove, Throughput]),
    provideClass(MoveMembers, [StartMove, BackendDirectory]),
    provideClass(StartQueue, [PlanQueue, TaskRunner, MoveMembers]),
  ],
})
export class MovesModule {}
