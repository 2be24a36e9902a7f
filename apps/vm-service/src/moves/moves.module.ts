import { Module } from '@nestjs/common';
import { Audit, BackendDirectory, Clock, InstanceDirectory, TaskRunner } from '@headgate/domain-contracts';
import {
  ListDestinations,
  MemberFolders,
  MovesInProgress,
  MoveTask,
  PlanMove,
  StartMove,
  Throughput,
} from '@headgate/moves';
import { FleetModule } from '../fleet/fleet.module.js';
import { FolderTreeModule } from '../folders/folder-tree.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { MovesController } from './moves.controller.js';
import { TreeMemberFolders } from './tree-member-folders.js';

/** Moves of VMs between contexts. */
@Module({
  imports: [StoreModule, FleetModule, FolderTreeModule, TasksModule],
  controllers: [MovesController],
  providers: [
    {
      provide: MovesInProgress,
      inject: [TaskRunner],
      useFactory: (tasks: TaskRunner) => new MovesInProgress((id) => tasks.get(id).status === 'running'),
    },
    Throughput,
    { provide: MemberFolders, useClass: TreeMemberFolders },
    provideClass(ListDestinations, [BackendDirectory]),
    {
      provide: PlanMove,
      inject: [InstanceDirectory, BackendDirectory, MovesInProgress, Throughput],
      useFactory: (
        directory: InstanceDirectory,
        backends: BackendDirectory,
        inProgress: MovesInProgress,
        throughput: Throughput,
      ) => new PlanMove({ directory, backends, inProgress, throughput }),
    },
    {
      provide: MoveTask,
      inject: [InstanceDirectory, BackendDirectory, MemberFolders, Audit, MovesInProgress, Throughput, Clock],
      useFactory: (
        directory: InstanceDirectory,
        backends: BackendDirectory,
        folders: MemberFolders,
        audit: Audit,
        inProgress: MovesInProgress,
        throughput: Throughput,
        clock: Clock,
      ) => new MoveTask({ directory, backends, folders, audit, inProgress, throughput, clock }),
    },
    {
      provide: StartMove,
      inject: [PlanMove, MoveTask, TaskRunner, MovesInProgress, Audit],
      useFactory: (plan: PlanMove, task: MoveTask, tasks: TaskRunner, inProgress: MovesInProgress, audit: Audit) =>
        // Registered while the service is created, so that interrupted moves are continued when it starts.
        new StartMove(plan, tasks.define(task), inProgress, audit),
    },
  ],
})
export class MovesModule {}
