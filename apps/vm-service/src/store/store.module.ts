import { join } from 'node:path';
import { Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  ApiTokenStore,
  Audit,
  AuditLog,
  Clock,
  FolderStore,
  Journal,
  SourceStore,
  TaskStore,
  WebhookStore,
} from '@headgate/domain-contracts';
import {
  RegistryDatabase,
  SqliteApiTokenStore,
  SqliteAuditLog,
  SqliteFolderStore,
  SqliteJournal,
  SqliteSourceStore,
  SqliteWebhookStore,
} from '@headgate/registry-store';
import type { Settings } from '../config/load-config.js';
import { provideClass } from '../platform/provide-class.js';
import { Readiness } from '../platform/readiness.js';
import { SETTINGS } from '../platform/tokens.js';
import { AnnouncingTaskStore } from './announcing-task-store.js';
import { RegistryReadiness } from './registry-readiness.js';

/** The registry. It opens after the service listens and closes last. */
@Module({
  providers: [
    {
      provide: RegistryDatabase,
      inject: [SETTINGS],
      useFactory: ({ dataDir }: Settings) => new RegistryDatabase(join(dataDir, 'registry.db')),
    },
    provideClass(AnnouncingTaskStore, [RegistryDatabase]),
    { provide: TaskStore, useExisting: AnnouncingTaskStore },
    provideClass(SqliteWebhookStore, [RegistryDatabase], WebhookStore),
    {
      provide: AuditLog,
      inject: [RegistryDatabase, SETTINGS, Clock],
      useFactory: (database: RegistryDatabase, { journal }: Settings, clock: Clock) =>
        new SqliteAuditLog(database, { maxEntries: journal.entries, maxDays: journal.days }, clock),
    },
    provideClass(SqliteJournal, [RegistryDatabase], Journal),
    provideClass(SqliteApiTokenStore, [RegistryDatabase], ApiTokenStore),
    provideClass(Audit, [AuditLog, Clock]),
    provideClass(SqliteFolderStore, [RegistryDatabase], FolderStore),
    provideClass(SqliteSourceStore, [RegistryDatabase], SourceStore),
    { provide: Readiness, useClass: RegistryReadiness },
  ],
  exports: [
    AnnouncingTaskStore,
    TaskStore,
    WebhookStore,
    Audit,
    AuditLog,
    Journal,
    ApiTokenStore,
    FolderStore,
    SourceStore,
    Readiness,
  ],
})
export class StoreModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(private readonly database: RegistryDatabase) {}

  onApplicationBootstrap(): void {
    this.database.open();
  }

  onApplicationShutdown(): void {
    this.database.close();
  }
}
