import { Module } from '@nestjs/common';
import {
  Audit,
  AuditLog,
  BackendDirectory,
  DiskBuilder,
  ImageCatalog,
  InstanceDirectory,
  PowerObserver,
  TaskRunner,
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
import { FleetModule } from '../fleet/fleet.module.js';
import { ImagesModule } from '../images/images.module.js';
import { ShutdownsModule } from '../moves/shutdowns.module.js';
import { PluginsModule } from '../plugins/plugins.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { VmsController } from './vms.controller.js';

/** Virtual machines: the list, creation, power, tags, migration, deletion. */
@Module({
  imports: [StoreModule, FleetModule, TasksModule, ImagesModule, PluginsModule, ShutdownsModule],
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
    provideClass(CreateVm, [PlaceInstance, ImageCatalog, InstanceDirectory, TaskRunner, Audit, BuildVm]),
    provideClass(DeleteVm, [InstanceDirectory, BackendDirectory, TaskRunner, Audit]),
    provideClass(ApplyPower, [InstanceDirectory, BackendDirectory, Audit, PowerObserver]),
    provideClass(MigrateVm, [InstanceDirectory, BackendDirectory, TaskRunner, Audit]),
    provideClass(ReadEvents, [InstanceDirectory, BackendDirectory, AuditLog]),
    provideClass(TagVm, [InstanceDirectory, BackendDirectory, Audit]),
  ],
  exports: [ApplyPower, DeleteVm, MigrateVm, TagVm],
})
export class InstancesModule {}
