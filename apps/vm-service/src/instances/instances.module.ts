import { Module } from '@nestjs/common';
import {
  AuditLog,
  BackendDirectory,
  DiskBuilder,
  FolderDirectory,
  ImageCatalog,
  InstanceDirectory,
  PowerObserver,
  ShutdownTimes,
  TaskRunner,
} from '@headgate/domain-contracts';
import {
  ApplyPower,
  BuildVm,
  CreateVm,
  DeleteVm,
  MigrateVm,
  PatchInstance,
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
import { INSTANCE_CHANGE, INSTANCE_SOURCES } from '../platform/instance-tokens.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { ObservedShutdowns } from './observed-shutdowns.js';
import { FacetsController } from './facets.controller.js';
import { PatchesController } from './patches.controller.js';
import { VmsController } from './vms.controller.js';

/**
 * Virtual machines: the list, creation, power with the time that guests take to shut down, tags, migration, deletion.
 */
@Module({
  imports: [StoreModule, FleetModule, IdentityModule, FolderTreeModule, TasksModule, ImagesModule, PluginsModule],
  controllers: [VmsController, FacetsController, PatchesController],
  providers: [
    provideClass(PlaceInstance, [BackendDirectory, InstanceDirectory]),
    provideDeps(BuildVm, { ...INSTANCE_SOURCES, disks: DiskBuilder, tasks: TaskRunner, folders: FolderDirectory }),
    provideDeps(CreateVm, {
      ...INSTANCE_CHANGE,
      place: PlaceInstance,
      catalog: ImageCatalog,
      tasks: TaskRunner,
      builds: BuildVm,
      folders: FolderDirectory,
    }),
    provideDeps(DeleteVm, { ...INSTANCE_CHANGE, tasks: TaskRunner, folders: FolderDirectory }),
    provideClass(ShutdownEstimates, [ShutdownTimes]),
    { provide: PowerObserver, useClass: ObservedShutdowns },
    provideDeps(ApplyPower, { ...INSTANCE_CHANGE, observer: PowerObserver }),
    provideDeps(MigrateVm, { ...INSTANCE_CHANGE, tasks: TaskRunner }),
    provideDeps(ReadEvents, { ...INSTANCE_SOURCES, audit: AuditLog }),
    provideDeps(TagVm, INSTANCE_CHANGE),
    provideDeps(PatchInstance, INSTANCE_CHANGE),
  ],
  exports: [ApplyPower, DeleteVm, MigrateVm, ShutdownEstimates, TagVm],
})
export class InstancesModule {}
