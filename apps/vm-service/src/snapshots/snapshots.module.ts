import { Module } from '@nestjs/common';
import {
  Audit,
  BackendDirectory,
  Clock,
  InstanceDirectory,
  Reservations,
  TaskRunner,
} from '@headgate/domain-contracts';
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
  type CloningDeps,
  type SnapshotDeps,
} from '@headgate/instances';
import { FleetModule } from '../fleet/fleet.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { SnapshotsController } from './snapshots.controller.js';

const SNAPSHOT_DEPS = Symbol('SNAPSHOT_DEPS');
const CLONING_DEPS = Symbol('CLONING_DEPS');

/** Snapshots, clones and templates of VMs. */
@Module({
  imports: [StoreModule, FleetModule, TasksModule],
  controllers: [SnapshotsController],
  providers: [
    provideClass(PlaceInstance, [BackendDirectory, InstanceDirectory]),
    {
      provide: SNAPSHOT_DEPS,
      inject: [InstanceDirectory, BackendDirectory, TaskRunner, Audit, Clock, Reservations],
      useFactory: (
        directory: InstanceDirectory,
        backends: BackendDirectory,
        tasks: TaskRunner,
        audit: Audit,
        clock: Clock,
        reservations: Reservations,
      ): SnapshotDeps => ({
        ...{ directory, backends, audit, clock, reservations },
        tasks: new SnapshotTasks({ tasks, directory, backends }),
      }),
    },
    {
      provide: CLONING_DEPS,
      inject: [InstanceDirectory, BackendDirectory, PlaceInstance, TaskRunner, Audit, Reservations],
      useFactory: (
        directory: InstanceDirectory,
        backends: BackendDirectory,
        place: PlaceInstance,
        tasks: TaskRunner,
        audit: Audit,
        reservations: Reservations,
      ): CloningDeps => ({
        ...{ directory, backends, place, audit, reservations },
        tasks: new CloneTasks({ tasks, directory, backends }),
      }),
    },
    provideClass(ListSnapshots, [SNAPSHOT_DEPS]),
    provideClass(CreateSnapshot, [SNAPSHOT_DEPS]),
    provideClass(RestoreSnapshot, [SNAPSHOT_DEPS]),
    provideClass(DeleteSnapshot, [SNAPSHOT_DEPS]),
    provideClass(CloneVm, [CLONING_DEPS]),
    provideClass(MarkTemplate, [CLONING_DEPS]),
  ],
})
export class SnapshotsModule {}
