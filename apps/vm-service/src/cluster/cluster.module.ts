import { Module } from '@nestjs/common';
import { BackendDirectory } from '@headgate/domain-contracts';
import { FleetModule } from '../fleet/fleet.module.js';
import { ImagesModule } from '../images/images.module.js';
import { PluginsModule } from '../plugins/plugins.module.js';
import { provideClass } from '../platform/provide-class.js';
import { ClusterController } from './cluster.controller.js';
import { QueryBackends } from '../fleet/query-backends.js';
import { InfrastructureController } from './infrastructure.controller.js';
import { ReadCapabilities } from './read-capabilities.js';

/** Nodes, storages, networks, instancetypes and the capabilities of every context. */
@Module({
  imports: [FleetModule, ImagesModule, PluginsModule],
  controllers: [ClusterController, InfrastructureController],
  providers: [provideClass(QueryBackends, [BackendDirectory]), ReadCapabilities],
  exports: [ReadCapabilities],
})
export class ClusterModule {}
