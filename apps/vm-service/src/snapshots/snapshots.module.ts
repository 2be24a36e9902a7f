import { Module } from '@nestjs/common';
import { BackendDirectory, Clock, InstanceDirectory, TaskRunner } from '@headgate/domain-contracts';
import {
  CloneTasks,
  CloneVm,
  CreateSnapshot,
  DeleteSnapshot,
  ListSnapshots,
  MarkTemplate,
  PlaceInstance,
  RestoreSnapshot,
  SnapshotTasks,
} from '@headgate/instances';
import { FleetModule } from '../fleet/fleet.module.js';
import { INSTANCE_CHANGE, INSTANCE_SOURCES } from '../platform/instance-tokens.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { ContainerSnapshotsController } from './container-snapshots.controller.js';
import { SnapshotsController } from './snapshots.controller.js';

/** Snapshots and clones of VMs and containers, and templates of VMs. */
@Module({
  imports: [StoreModule, FleetModule, TasksModule],
  controllers: [SnapshotsController, ContainerSnapshotsController],
  providers: [
    provideClass(PlaceInstance, [BackendDirectory, InstanceDirectory]),
    provideDeps(SnapshotTasks, { ...INSTANCE_SOURCES, tasks: TaskRunner }),
    provideDeps(CloneTasks, { ...INSTANCE_SOURCES, tasks: TaskRunner }),
    provideDeps(ListSnapshots, INSTANCE_SOURCES),
    provideDeps(CreateSnapshot, { ...INSTANCE_CHANGE, tasks: SnapshotTasks, clock: Clock }),
    provideDeps(RestoreSnapshot, { ...INSTANCE_CHANGE, tasks: SnapshotTasks }),
    provideDeps(DeleteSnapshot, { ...INSTANCE_CHANGE, tasks: SnapshotTasks }),
    provideDeps(CloneVm, { ...INSTANCE_CHANGE, tasks: CloneTasks, place: PlaceInstance }),
    provideDeps(MarkTemplate, INSTANCE_CHANGE),
  ],
  exports: [ListSnapshots, CreateSnapshot, DeleteSnapshot, RestoreSnapshot],
})
export class SnapshotsModule {}
