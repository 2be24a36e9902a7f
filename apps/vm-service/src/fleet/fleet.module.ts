import { join } from 'node:path';
import { Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  BackendDirectory,
  Clock,
  FolderDirectory,
  InstanceDirectory,
  Replicas,
  Reservations,
  type Log,
} from '@headgate/domain-contracts';
import { Fleet, FleetReader } from '@headgate/fleet';
import { FleetHistory } from '@headgate/history';
import { MetricsSampler, UsageHistory } from '@headgate/metrics';
import { AccessModule } from '../access/access.module.js';
import type { Settings } from '../config/load-config.js';
import { AddedContexts } from './added-contexts.js';
import { Backends } from './backends.js';
import { BackendsModule, CONFIGURED_BACKENDS } from './backends.module.js';
import { FolderTreeModule } from '../folder-tree/folder-tree.module.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { LOGGER, SETTINGS } from '../platform/tokens.js';
import { SHARED_STORE, type SharedStore } from '../store/shared-store.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { LiveContexts } from './live-contexts.js';
import { ReachableBackends } from './reachable-backends.js';
import { EventStreams } from './event-streams.js';
import { GzipBlocks } from './gzip/gzip-blocks.js';
import { ListReader } from './list-reader.js';
import { StreamConnections } from './stream-connections.js';
import { PastLists } from './past-lists.js';
import { presentEntry } from './present.js';

const MIB = 1024 ** 2;

/** The live instances of all backends, for everything that reads. */
@Module({
  // The tasks of the last run hold their instances again before these are listed.
  imports: [AccessModule, StoreModule, BackendsModule, FolderTreeModule, TasksModule],
  providers: [
    {
      provide: Fleet,
      inject: [Clock, FolderDirectory, Reservations],
      useFactory: (clock: Clock, folders: FolderDirectory, reservations: Reservations) =>
        new Fleet({
          clock,
          present: presentEntry,
          folderOf: (instance) => folders.folderOf(instance),
          busyOf: (ref) => reservations.taskOf(ref),
        }),
    },
    { provide: FleetReader, useExisting: Fleet },
    { provide: InstanceDirectory, useExisting: Fleet },
    provideClass(ReachableBackends, [CONFIGURED_BACKENDS, FleetReader], BackendDirectory),
    GzipBlocks,
    StreamConnections,
    EventStreams,
    ListReader,
    PastLists,
    {
      provide: FleetHistory,
      inject: [SETTINGS, Clock, LOGGER, FleetReader],
      useFactory: (
        { dataDir, history: { record, days, mebibytes } }: Settings,
        clock: Clock,
        log: Log,
        fleet: FleetReader,
      ) =>
        record
          ? new FleetHistory({
              folder: join(dataDir, 'fleet-history'),
              clock,
              log,
              days,
              maxBytes: mebibytes * MIB,
              fleet: { entries: () => [...fleet.all('vm'), ...fleet.all('ct')], contexts: () => fleet.states() },
            })
          : undefined,
    },
    {
      provide: UsageHistory,
      inject: [SETTINGS, Clock, LOGGER],
      useFactory: ({ dataDir }: Settings, clock: Clock, log: Log) =>
        new UsageHistory({ folder: join(dataDir, 'usage-history'), clock, log }),
    },
    {
      provide: MetricsSampler,
      inject: [BackendDirectory, InstanceDirectory, Clock, LOGGER, Replicas, SHARED_STORE, UsageHistory],
      useFactory: (
        backends: BackendDirectory,
        directory: InstanceDirectory,
        clock: Clock,
        log: Log,
        replicas: Replicas,
        shared: SharedStore | undefined,
        recorder: UsageHistory,
      ) => new MetricsSampler({ backends, directory, clock, log, replicas, exchange: shared?.samples, recorder }),
    },
    provideDeps(LiveContexts, {
      added: AddedContexts,
      backends: Backends,
      directory: BackendDirectory,
      fleet: Fleet,
      sampler: MetricsSampler,
      clock: Clock,
    }),
  ],
  exports: [
    FleetReader,
    LiveContexts,

    InstanceDirectory,
    BackendDirectory,
    ListReader,
    FleetHistory,
    PastLists,
    MetricsSampler,
    StreamConnections,
    UsageHistory,
  ],
})
export class FleetModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    private readonly fleet: Fleet,
    private readonly folders: FolderDirectory,
    private readonly reservations: Reservations,
    @Inject(CONFIGURED_BACKENDS) private readonly backends: BackendDirectory,
    @Inject(FleetHistory) private readonly history: FleetHistory | undefined,
  ) {}

  onApplicationBootstrap(): void {
    this.folders.subscribe((refs) => this.fleet.refresh(refs));
    this.reservations.subscribe((refs) => this.fleet.refresh(refs));
    for (const backend of this.backends.all()) this.fleet.attach(backend);
    this.fleet.subscribe((event) => this.history?.record(event));
    // Before, the instances of a context that is not listed yet would count as gone.
    void this.fleet.whenSynced().then(() => this.history?.start());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.history?.close();
    await this.fleet.close();
  }
}
