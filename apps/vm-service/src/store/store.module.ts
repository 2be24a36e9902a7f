import { join } from 'node:path';
import { Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  AccountStore,
  AddedContextStore,
  ApiTokenStore,
  Audit,
  AuditLog,
  BackupTargetStore,
  Clock,
  DeviceLoginStore,
  FolderStore,
  MessageChannelStore,
  MessageRuleStore,
  FleetAuditLog,
  JournalPositions,
  LoginSessionStore,
  Replicas,
  ReplyStore,
  Reservations,
  ShutdownTimes,
  SingleReplica,
  SourceStore,
  RoleStore,
  SavedViewStore,
  ScheduledSnapshotStore,
  ScheduleStore,
  SshKeyStore,
  TaskStore,
  UserGroupsStore,
  WebhookStore,
  type Log,
} from '@headgate/domain-contracts';
import {
  RegistryDatabase,
  SqliteAccountStore,
  SqliteAddedContextStore,
  SqliteApiTokenStore,
  SqliteAuditLog,
  SqliteBackupTargetStore,
  SqliteDeviceLoginStore,
  SqliteFolderStore,
  SqliteMessageChannelStore,
  SqliteMessageRuleStore,
  SqliteFleetAuditLog,
  SqliteJournalPositions,
  SqliteLoginSessionStore,
  SqliteReplyStore,
  SqliteShutdownTimes,
  SqliteRoleStore,
  SqliteSourceStore,
  SqliteSavedViewStore,
  SqliteScheduledSnapshotStore,
  SqliteScheduleStore,
  SqliteSshKeyStore,
  SqliteTaskStore,
  SqliteUserGroupsStore,
  SqliteWebhookStore,
} from '@headgate/registry-store';
import { Ledger } from '@headgate/reservations';
import { PastTimes } from '@headgate/tasks';
import type { ChosenContexts } from '../composition/choose-contexts.js';
import type { Settings } from '../config/load-config.js';
import { provideClass } from '../platform/provide-class.js';
import { Readiness } from '../platform/readiness.js';
import { CONTEXTS, LOGGER, SETTINGS } from '../platform/tokens.js';
import { provideStored } from './provide-stored.js';
import { RegistryReadiness } from './registry-readiness.js';
import { connectSharedStore, SHARED_STORE, type SharedStore } from './shared-store.js';

/**
 * The registry, and the store that replicas share if there is one. They open after the service listens and close last.
 */
@Module({
  providers: [
    {
      provide: RegistryDatabase,
      inject: [SETTINGS],
      useFactory: ({ dataDir }: Settings) => new RegistryDatabase(join(dataDir, 'registry.db')),
    },
    {
      provide: SHARED_STORE,
      inject: [SETTINGS, Clock, LOGGER],
      useFactory: ({ store }: Settings, clock: Clock, log: Log) => connectSharedStore(store, clock, log),
    },
    {
      provide: Replicas,
      inject: [SHARED_STORE],
      useFactory: (shared: SharedStore | undefined) => shared?.replicas ?? new SingleReplica(),
    },
    provideClass(PastTimes, [Clock]),
    {
      provide: Reservations,
      inject: [Clock, LOGGER, Replicas, CONTEXTS, PastTimes],
      useFactory: (clock: Clock, log: Log, replicas: Replicas, { fence }: ChosenContexts, times: PastTimes) => {
        const ledger = new Ledger({ clock, log, replicas, times });
        fence?.follow(ledger);
        return ledger;
      },
    },
    provideStored(TaskStore, 'tasks', SqliteTaskStore),
    provideStored(WebhookStore, 'webhooks', SqliteWebhookStore),
    {
      provide: AuditLog,
      inject: [RegistryDatabase, SETTINGS, Clock],
      useFactory: (database: RegistryDatabase, { journal }: Settings, clock: Clock) =>
        new SqliteAuditLog(database, { maxEntries: journal.entries, maxDays: journal.days }, clock),
    },
    provideClass(SqliteAddedContextStore, [RegistryDatabase], AddedContextStore),
    provideClass(SqliteBackupTargetStore, [RegistryDatabase], BackupTargetStore),
    provideClass(SqliteFleetAuditLog, [RegistryDatabase], FleetAuditLog),
    provideClass(SqliteJournalPositions, [RegistryDatabase], JournalPositions),
    provideStored(AccountStore, 'accounts', SqliteAccountStore),
    provideStored(LoginSessionStore, 'sessions', SqliteLoginSessionStore),
    provideStored(DeviceLoginStore, 'deviceLogins', SqliteDeviceLoginStore),
    provideStored(UserGroupsStore, 'userGroups', SqliteUserGroupsStore),
    provideStored(ApiTokenStore, 'tokens', SqliteApiTokenStore),
    provideClass(Audit, [AuditLog, Clock]),
    provideStored(FolderStore, 'folders', SqliteFolderStore),
    provideStored(SourceStore, 'sources', SqliteSourceStore),
    provideStored(RoleStore, 'roles', SqliteRoleStore),
    provideStored(SavedViewStore, 'views', SqliteSavedViewStore),
    provideStored(ScheduleStore, 'schedules', SqliteScheduleStore),
    provideStored(ScheduledSnapshotStore, 'scheduledSnapshots', SqliteScheduledSnapshotStore),
    provideStored(MessageChannelStore, 'messageChannels', SqliteMessageChannelStore),
    provideStored(MessageRuleStore, 'messageRules', SqliteMessageRuleStore),
    provideStored(SshKeyStore, 'sshKeys', SqliteSshKeyStore),
    provideStored(ReplyStore, 'replies', SqliteReplyStore),
    provideClass(SqliteShutdownTimes, [RegistryDatabase], ShutdownTimes),
    provideClass(RegistryReadiness, [RegistryDatabase, SHARED_STORE], Readiness),
  ],
  exports: [
    SHARED_STORE,
    AccountStore,
    DeviceLoginStore,
    LoginSessionStore,
    UserGroupsStore,
    Replicas,
    ReplyStore,
    Reservations,
    PastTimes,
    TaskStore,
    WebhookStore,
    AddedContextStore,
    BackupTargetStore,
    Audit,
    AuditLog,
    FleetAuditLog,
    JournalPositions,
    ApiTokenStore,
    FolderStore,
    MessageChannelStore,
    MessageRuleStore,
    ShutdownTimes,
    RoleStore,
    SavedViewStore,
    ScheduledSnapshotStore,
    ScheduleStore,
    SourceStore,
    SshKeyStore,
    Readiness,
  ],
})
export class StoreModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    private readonly database: RegistryDatabase,
    @Inject(SHARED_STORE) private readonly shared: SharedStore | undefined,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.database.open();
    await this.shared?.open();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.shared?.close();
    this.database.close();
  }
}
