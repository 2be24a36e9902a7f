import { type DynamicModule, Module, type Provider, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { ConsoleBroker } from '@headgate/consoles';
import {
  AuditLog,
  BackendDirectory,
  Clock,
  ImageCatalog,
  InstanceDirectory,
  SystemClock,
} from '@headgate/domain-contracts';
import { Fleet } from '@headgate/fleet';
import {
  ApplyContainerPower,
  ApplyPower,
  Audit,
  CreateContainer,
  CreateVm,
  DeleteContainer,
  DeleteVm,
  MigrateVm,
  PlaceInstance,
  TagVm,
} from '@headgate/instances';
import { ConfiguredCatalog } from '@headgate/sources';
import { TaskBoard } from '@headgate/tasks';
import type { Logger } from 'pino';
import { AskBackends } from './cluster/ask-backends.js';
import { CheckBackends } from './cluster/check-backends.js';
import { ClusterController } from './cluster/cluster.controller.js';
import { DoctorController } from './cluster/doctor.controller.js';
import { FixBackends } from './cluster/fix-backends.js';
import { ReadCapabilities } from './cluster/read-capabilities.js';
import { Backends } from './composition/backends.js';
import type { ChosenContexts } from './composition/choose-contexts.js';
import { Registry, RegistryAudit, RegistryTasks } from './composition/registry.js';
import type { Settings } from './config/load-config.js';
import { ConsoleRequests } from './consoles/console-request.js';
import { TtyGateway } from './consoles/tty.gateway.js';
import { VncGateway } from './consoles/vnc.gateway.js';
import { ContainersController } from './containers/containers.controller.js';
import { MetricsController } from './exposition/metrics.controller.js';
import { MetricsSnapshot } from './exposition/metrics-snapshot.js';
import { makeSeries, watchProcess } from './exposition/series.js';
import { HealthController } from './health/health.controller.js';
import { CallerIdentity } from './identity/caller-identity.js';
import { EdgeGuard } from './identity/edge.guard.js';
import { EdgePolicy } from './identity/edge-policy.js';
import { IdentityGuard } from './identity/identity.guard.js';
import { WhoamiController } from './identity/whoami.controller.js';
import { EventStreams } from './instances/event-stream.js';
import { ListReader } from './instances/list-reader.js';
import { presentEntry } from './instances/present.js';
import { VmsController } from './instances/vms.controller.js';
import { PageAssets } from './page/page-assets.js';
import { PageController } from './page/page.controller.js';
import { DomainErrorFilter } from './platform/domain-error.filter.js';
import { WirePipe } from './platform/wire.pipe.js';
import { TasksController } from './tasks/tasks.controller.js';

export interface AppParts {
  readonly settings: Settings;
  readonly contexts: ChosenContexts;
  readonly log: Logger;
  /** Folder of the built console. */
  readonly pageDir: string;
}

/** Where a simulated cluster pulls the well-known images from: a name that no real host can have (RFC 2606). */
const SIMULATED_REGISTRY = 'registry.sandbox.example';

/** Every route of the service. */
export const CONTROLLERS: readonly Type[] = [
  VmsController,
  ContainersController,
  TasksController,
  ClusterController,
  DoctorController,
  WhoamiController,
  HealthController,
  MetricsController,
  PageController,
];

/** Where the parts meet: every class below is plain and gets what it needs from here. */
@Module({})
export class AppModule {
  static of({ settings, contexts, log, pageDir }: AppParts): DynamicModule {
    const identity = new CallerIdentity(settings);
    const edge = new EdgePolicy(settings);
    const providers: Provider[] = [
      { provide: Clock, useClass: SystemClock },
      { provide: CallerIdentity, useValue: identity },
      { provide: EdgePolicy, useValue: edge },
      { provide: Registry, useValue: new Registry(settings.dataDir) },
      { provide: BackendDirectory, useValue: new Backends(contexts.backends) },
      { provide: PageAssets, useValue: new PageAssets(pageDir) },
      {
        provide: ImageCatalog,
        useValue: new ConfiguredCatalog({
          tiny: contexts.hasTinyGuest,
          registry: settings.imageRegistry ?? (contexts.simulated.size > 0 ? SIMULATED_REGISTRY : undefined),
          images: settings.images,
        }),
      },
      { provide: AuditLog, inject: [Registry], useFactory: (registry: Registry) => new RegistryAudit(registry) },
      {
        provide: TaskBoard,
        inject: [Registry, Clock],
        useFactory: (registry: Registry, clock: Clock) => new TaskBoard(new RegistryTasks(registry), clock, log),
      },
      { provide: Fleet, inject: [Clock], useFactory: (clock: Clock) => new Fleet({ clock, present: presentEntry }) },
      { provide: InstanceDirectory, useExisting: Fleet },
      made(Audit, [AuditLog, Clock]),
      made(PlaceInstance, [BackendDirectory, InstanceDirectory]),
      made(CreateVm, [PlaceInstance, ImageCatalog, InstanceDirectory, TaskBoard, Audit]),
      made(DeleteVm, [InstanceDirectory, BackendDirectory, Audit]),
      made(ApplyPower, [InstanceDirectory, BackendDirectory, Audit]),
      made(MigrateVm, [InstanceDirectory, BackendDirectory, TaskBoard, Audit]),
      made(TagVm, [InstanceDirectory, BackendDirectory, Audit]),
      made(CreateContainer, [PlaceInstance, InstanceDirectory, Audit]),
      made(DeleteContainer, [InstanceDirectory, BackendDirectory, Audit]),
      made(ApplyContainerPower, [InstanceDirectory, BackendDirectory, Audit]),
      made(ListReader, [Fleet, EventStreams]),
      made(EventStreams, [Fleet]),
      made(ConsoleBroker, [InstanceDirectory, Clock]),
      made(ConsoleRequests, [InstanceDirectory, BackendDirectory, CallerIdentity]),
      made(AskBackends, [BackendDirectory]),
      made(CheckBackends, [BackendDirectory]),
      made(FixBackends, [BackendDirectory, CheckBackends]),
      {
        provide: ReadCapabilities,
        inject: [BackendDirectory, Fleet],
        useFactory: (backends: BackendDirectory, fleet: Fleet) =>
          new ReadCapabilities(backends, fleet, contexts.simulated),
      },
      {
        provide: MetricsSnapshot,
        inject: [Fleet, TaskBoard, Clock],
        useFactory: (fleet: Fleet, tasks: TaskBoard, clock: Clock) => {
          const series = makeSeries();
          if (settings.metrics) watchProcess(series);
          return new MetricsSnapshot(series, fleet, tasks, clock);
        },
      },
      VncGateway,
      TtyGateway,
      { provide: APP_GUARD, useValue: new EdgeGuard(edge) },
      { provide: APP_GUARD, useValue: new IdentityGuard(identity) },
      { provide: APP_PIPE, useClass: WirePipe },
      { provide: APP_FILTER, useValue: new DomainErrorFilter(log) },
    ];
    return {
      module: AppModule,
      controllers: [...CONTROLLERS],
      providers,
    };
  }
}

/** Plain classes know no framework: their parts are named here, in the order of their constructors. */
const made = <A extends unknown[], T>(
  type: new (...args: A) => T,
  inject: { readonly [I in keyof A]: Token },
): Provider => ({
  provide: type,
  inject: inject as unknown as Token[],
  useFactory: (...args: unknown[]) => new type(...(args as A)),
});

type Token = abstract new (...args: never[]) => unknown;
