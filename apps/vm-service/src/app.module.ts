import { Module, type DynamicModule } from '@nestjs/common';
import { AgentsModule } from './agents/agents.module.js';
import { ApiDocsModule } from './api-docs/api-docs.module.js';
import { BackupsModule } from './backups/backups.module.js';
import { BulkModule } from './bulk/bulk.module.js';
import { CertificatesModule } from './certificates/certificates.module.js';
import { ClusterModule } from './cluster/cluster.module.js';
import { BackendsModule } from './fleet/backends.module.js';
import { CloudInitModule } from './cloud-init/cloud-init.module.js';
import { ConsolesModule } from './consoles/consoles.module.js';
import { PortsModule } from './ports/ports.module.js';
import { ContainersModule } from './containers/containers.module.js';
import { ContextsModule } from './contexts/contexts.module.js';
import { DoctorModule } from './doctor/doctor.module.js';
import { ExportModule } from './export/export.module.js';
import { FilesModule } from './files/files.module.js';
import { ExpositionModule } from './exposition/exposition.module.js';
import { FleetModule } from './fleet/fleet.module.js';
import { FoldersModule } from './folders/folders.module.js';
import { HardwareModule } from './hardware/hardware.module.js';
import { GuestsModule } from './guests/guests.module.js';
import { HealthModule } from './health/health.module.js';
import { HistoryModule } from './history/history.module.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { IdentityModule } from './identity/identity.module.js';
import { DataVolumesModule } from './images/datavolumes.module.js';
import { ImagesModule } from './images/images.module.js';
import { InstancesModule } from './instances/instances.module.js';
import { JournalModule } from './journal/journal.module.js';
import { LoginModule } from './login/login.module.js';
import { MessagesModule } from './messages/messages.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { MovesModule } from './moves/moves.module.js';
import { NodesModule } from './nodes/nodes.module.js';
import { PageModule } from './page/page.module.js';
import { PluginsModule } from './plugins/plugins.module.js';
import { PlatformModule } from './platform/platform.module.js';
import type { OpenedDeps } from './platform/tokens.js';
import { RolesModule } from './roles/roles.module.js';
import { SchedulesModule } from './schedules/schedules.module.js';
import { SshKeysModule } from './ssh-keys/ssh-keys.module.js';
import { SnapshotsModule } from './snapshots/snapshots.module.js';
import { StreamModule } from './stream/stream.module.js';
import { StoreModule } from './store/store.module.js';
import { ResumedTasksModule } from './resumed-tasks.module.js';
import { TasksModule } from './tasks/tasks.module.js';
import { TokensModule } from './tokens/tokens.module.js';
import { ViewsModule } from './views/views.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/**
 * The service. A module starts after the modules that it imports and stops before them: the listener, the store, the
 * backends, the fleet and the tasks, then the areas that use them.
 */
@Module({})
export class AppModule {
  static forRoot(deps: OpenedDeps): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PlatformModule.forRoot(deps),
        StoreModule,
        BackendsModule,
        TasksModule,
        FleetModule,
        ResumedTasksModule,
        IdentityModule,
        CertificatesModule,
        IdempotencyModule,
        LoginModule,
        RolesModule,
        TokensModule,
        JournalModule,
        HealthModule,
        PageModule,
        ApiDocsModule,
        ImagesModule,
        CloudInitModule,
        SshKeysModule,
        ViewsModule,
        PluginsModule,
        DataVolumesModule,
        HardwareModule,
        InstancesModule,
        SnapshotsModule,
        MetricsModule,
        HistoryModule,
        GuestsModule,
        ExportModule,
        ContainersModule,
        BulkModule,
        SchedulesModule,
        FoldersModule,
        MovesModule,
        BackupsModule,
        FilesModule,
        ConsolesModule,
        PortsModule,
        ClusterModule,
        NodesModule,
        DoctorModule,
        ContextsModule,
        AgentsModule,
        StreamModule,
        ExpositionModule,
        WebhooksModule,
        MessagesModule,
      ],
    };
  }
}
