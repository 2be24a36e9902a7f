import { Module } from '@nestjs/common';
import {
  Audit,
  AuditLog,
  BackendDirectory,
  DiskBuilder,
  FolderDirectory,
  ImageCatalog,
  InstanceDirectory,
  PowerObserver,
  ShutdownTimes,
  TaskRunner,
  Reservations,
} from '@headgate/domain-contracts';
import {
  ApplyPower,
  BuildVm,
  CreateVm,
  DeleteVm,
  MigrateVm,
  PlaceInstance,
  ReadEvents,
  TagVm,
} from '@headgate/instances';
import { ShutdownEstimates } from '@headgate/moves';
import { FleetModule } from '../fleet/fleet.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { FolderTreeModule } from '../folder-tree/folder-tree.module.js';
import { ImagesModule } from '../images/images.module.js';
import { PluginsModule } from '../plugins/plugins.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { ObservedShutdowns } from './observed-shutdowns.js';
import { VmsController } from './vms.controller.js';

/** Virtual machines: the list, creation, power with the time that guests take to shut down, tags, migration, deletion. */
@Module({
  imports: [StoreModule, FleetModule, IdentityModule, FolderTreeModule, TasksModule, ImagesModule, PluginsModule],
  controllers: [VmsController],
  providers: [
    provideClass(PlaceInstance, [BackendDirectory, InstanceDirectory]),
    {
      provide: BuildVm,
      inject: [DiskBuilder, BackendDirectory, InstanceDirectory, TaskRunner],
      useFactory: (
        disks: DiskBuilder,
        backends: BackendDirectory,
        directory: InstanceDirectory,
        tasks: TaskRunner,
      ): BuildVm => new BuildVm({ disks, backends, directory, tasks }),
    },
    provideClass(CreateVm, [PlaceInstance, ImageCatalog, InstanceDirectory, TaskRunner, Audit, BuildVm, Reservations]),
    provideClass(DeleteVm, [InstanceDirectory, BackendDirectory, TaskRunner, Audit, Reservations, FolderDirectory]),
    provideClass(ShutdownEstimates, [ShutdownTimes]),
    { provide: PowerObserver, useClass: ObservedShutdowns },
    provideClass(ApplyPower, [InstanceDirectory, BackendDirectory, Audit, PowerObserver, Reservations]),
    provideClass(MigrateVm, [InstanceDirectory, BackendDirectory, TaskRunner, Audit, Reservations]),
    provideClass(ReadEvents, [InstanceDirectory, BackendDirectory, AuditLog]),
    provideClass(TagVm, [InstanceDirectory, BackendDirectory, Audit, Reservations]),
  ],
  exports: [ApplyPower, DeleteVm, MigrateVm, ShutdownEstimates, TagVm],
})
export class InstancesModule {}
