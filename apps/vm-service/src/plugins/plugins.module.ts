import { join } from 'node:path';
import { Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Audit, Clock, DiskBuilder, TaskStore, type Log } from '@headgate/domain-contracts';
import { EgressPolicy } from '@headgate/downloads';
import {
  BundledSource,
  ChangingPlugins,
  IndexSource,
  InstallPlugin,
  ListPlugins,
  parsePublicKey,
  PluginChecks,
  PluginDiskBuilder,
  PluginFolder,
  PluginHost,
  PluginStore,
  Podman,
  RemovePlugin,
} from '@headgate/plugins';
import { importExceptions } from '../config/import-exceptions.js';
import type { Settings } from '../config/load-config.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { LOGGER, SETTINGS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { pluginDownloads, registryCheck } from './plugin-downloads.js';
import { PluginsController } from './plugins.controller.js';

const CHANGE_DEPS = {
  store: PluginStore,
  folder: PluginFolder,
  host: PluginHost,
  audit: Audit,
  clock: Clock,
  changing: ChangingPlugins,
} as const;

/** The store of plugins, the installed ones and their processes, and the disks that they build. */
@Module({
  imports: [StoreModule],
  controllers: [PluginsController],
  providers: [
    {
      provide: PluginFolder,
      inject: [SETTINGS, Clock, LOGGER],
      useFactory: ({ dataDir }: Settings, clock: Clock, log: Log) =>
        new PluginFolder({ folder: join(dataDir, 'plugins'), clock, log }),
    },
    {
      provide: PluginHost,
      inject: [SETTINGS, Clock, LOGGER],
      useFactory: ({ dataDir }: Settings, clock: Clock, log: Log) =>
        new PluginHost({ workFolder: join(dataDir, 'plugin-work'), clock, log }),
    },
    {
      provide: EgressPolicy,
      inject: [SETTINGS],
      useFactory: (settings: Settings) => new EgressPolicy({ allow: importExceptions(settings) }),
    },
    {
      provide: PluginStore,
      inject: [SETTINGS, EgressPolicy, Clock, LOGGER],
      useFactory: ({ plugins }: Settings, egress: EgressPolicy, clock: Clock, log: Log) => {
        const publishers = new Map(plugins.publishers.map(({ name, key }) => [name, parsePublicKey(key)]));
        const download = pluginDownloads(egress, clock);
        const indexes = plugins.indexes.map((url) => new IndexSource({ url, publishers, download, clock }));
        return new PluginStore([new BundledSource(), ...indexes], log);
      },
    },
    {
      provide: PluginDiskBuilder,
      inject: [SETTINGS, PluginFolder, PluginHost, EgressPolicy, Clock],
      useFactory: (
        { dataDir }: Settings,
        plugins: PluginFolder,
        host: PluginHost,
        egress: EgressPolicy,
        clock: Clock,
      ) =>
        new PluginDiskBuilder({
          plugins,
          host,
          clock,
          podman: new Podman(),
          folder: join(dataDir, 'builds'),
          isRoot: process.getuid?.() === 0,
          checkRegistry: registryCheck(egress),
        }),
    },
    { provide: DiskBuilder, useExisting: PluginDiskBuilder },
    ChangingPlugins,
    provideClass(PluginChecks, [PluginFolder, PluginHost]),
    provideClass(ListPlugins, [PluginStore, PluginFolder]),
    provideDeps(InstallPlugin, CHANGE_DEPS),
    provideDeps(RemovePlugin, CHANGE_DEPS),
  ],
  exports: [DiskBuilder, PluginChecks],
})
export class PluginsModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    private readonly folder: PluginFolder,
    private readonly host: PluginHost,
    private readonly disks: PluginDiskBuilder,
    private readonly tasks: TaskStore,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.folder.open();
    await this.host.sweep();
    await this.disks.sweep(this.tasks.running().map(({ id }) => id));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.host.close();
  }
}
