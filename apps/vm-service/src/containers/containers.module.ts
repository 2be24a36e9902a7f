import { Module } from '@nestjs/common';
import { Audit, AuditLog, BackendDirectory, FolderDirectory, InstanceDirectory } from '@headgate/domain-contracts';
import {
  ApplyContainerPower,
  CreateContainer,
  DeleteContainer,
  PlaceInstance,
  ReadContainerFiles,
  ReadContainerLog,
  ReadEvents,
} from '@headgate/instances';
import { AccessModule } from '../access/access.module.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { FolderTreeModule } from '../folder-tree/folder-tree.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { INSTANCE_CHANGE, INSTANCE_SOURCES } from '../platform/instance-tokens.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { StoreModule } from '../store/store.module.js';
import { ContainerFilesController } from './container-files.controller.js';
import { ContainerLogsController } from './container-logs.controller.js';
import { ContainerReadsController } from './container-reads.controller.js';
import { ContainersController } from './containers.controller.js';
import { LogConnections } from './log-connections.js';
import { StreamedAnswers } from './streamed-answers.js';

/** Containers: the list, creation, power, deletion, manifest, events, logs and files. */
@Module({
  imports: [AccessModule, StoreModule, FleetModule, FolderTreeModule, IdentityModule],
  controllers: [ContainersController, ContainerReadsController, ContainerLogsController, ContainerFilesController],
  providers: [
    provideClass(PlaceInstance, [BackendDirectory, InstanceDirectory]),
    provideDeps(CreateContainer, { ...INSTANCE_CHANGE, place: PlaceInstance, folders: FolderDirectory }),
    provideDeps(DeleteContainer, { ...INSTANCE_CHANGE, folders: FolderDirectory }),
    provideDeps(ApplyContainerPower, INSTANCE_CHANGE),
    provideDeps(ReadEvents, { ...INSTANCE_SOURCES, audit: AuditLog }),
    provideDeps(ReadContainerLog, INSTANCE_SOURCES),
    provideDeps(ReadContainerFiles, { ...INSTANCE_SOURCES, audit: Audit }),
    StreamedAnswers,
    LogConnections,
  ],
  exports: [ApplyContainerPower, DeleteContainer],
})
export class ContainersModule {}
