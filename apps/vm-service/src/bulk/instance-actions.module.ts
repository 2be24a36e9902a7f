import { Module } from '@nestjs/common';
import { expectMembersAllowed } from '@headgate/access';
import { Audit, InstanceDirectory, Reservations, ScheduledSnapshotStore, TaskRunner } from '@headgate/domain-contracts';
import { AddFolderMember, Folders, RemoveFolderMember } from '@headgate/folders';
import {
  ApplyContainerPower,
  ApplyPower,
  CreateSnapshot,
  DeleteSnapshot,
  DeleteContainer,
  DeleteVm,
  InstanceActions,
  ListSnapshots,
  MemberReadiness,
  MigrateVm,
  ScheduledSnapshotting,
  TagVm,
} from '@headgate/instances';
import { ContainersModule } from '../containers/containers.module.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { FolderTreeModule } from '../folder-tree/folder-tree.module.js';
import { InstancesModule } from '../instances/instances.module.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { SnapshotsModule } from '../snapshots/snapshots.module.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';

/** The actions on single instances, for work on many of them: bulk tasks and folders. */
@Module({
  imports: [
    StoreModule,
    FolderTreeModule,
    FleetModule,
    TasksModule,
    InstancesModule,
    SnapshotsModule,
    ContainersModule,
  ],
  providers: [
    provideClass(AddFolderMember, [Folders, InstanceDirectory, Audit, Reservations]),
    provideClass(RemoveFolderMember, [Folders, InstanceDirectory, Audit, Reservations]),
    provideDeps(ScheduledSnapshotting, {
      createSnapshot: CreateSnapshot,
      deleteSnapshot: DeleteSnapshot,
      listSnapshots: ListSnapshots,
      store: ScheduledSnapshotStore,
      tasks: TaskRunner,
      directory: InstanceDirectory,
    }),
    {
      provide: InstanceActions,
      inject: [
        ApplyPower,
        ApplyContainerPower,
        MigrateVm,
        CreateSnapshot,
        ScheduledSnapshotting,
        TagVm,
        DeleteVm,
        DeleteContainer,
        AddFolderMember,
        RemoveFolderMember,
        InstanceDirectory,
      ],
      useFactory: (
        applyPower: ApplyPower,
        applyContainerPower: ApplyContainerPower,
        migrateVm: MigrateVm,
        createSnapshot: CreateSnapshot,
        scheduledSnapshots: ScheduledSnapshotting,
        tagVm: TagVm,
        deleteVm: DeleteVm,
        deleteContainer: DeleteContainer,
        putIntoFolder: AddFolderMember,
        takeOutOfFolder: RemoveFolderMember,
        directory: InstanceDirectory,
      ) =>
        new InstanceActions(
          {
            applyPower,
            applyContainerPower,
            migrateVm,
            createSnapshot,
            scheduledSnapshots,
            tagVm,
            deleteVm,
            deleteContainer,
            putIntoFolder,
            takeOutOfFolder,
          },
          ({ grant }, request, ref) => expectMembersAllowed(grant, request, [ref]),
          new MemberReadiness(directory),
        ),
    },
  ],
  exports: [InstanceActions, AddFolderMember, RemoveFolderMember],
})
export class InstanceActionsModule {}
