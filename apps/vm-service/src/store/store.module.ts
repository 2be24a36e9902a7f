import { join } from 'node:path';
import { Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Audit, AuditLog, Clock, FolderStore, SourceStore, TaskStore } from '@headgate/domain-contracts';
import {
  RegistryDatabase,
  SqliteAuditLog,
  SqliteFolderStore,
  SqliteSourceStore,
  SqliteTaskStore,
} from '@headgate/registry-store';
import type { Settings } from '../config/load-config.js';
import { provideClass } from '../platform/provide-class.js';
import { Readiness } from '../platform/readiness.js';
import { SETTINGS } from '../platform/tokens.js';
import { RegistryReadiness } from './registry-readiness.js';

/** The registry. It opens after the service listens and closes last. */
@Module({
  providers: [
    {
      provide: RegistryDatabase,
      inject: [SETTINGS],
      useFactory: ({ dataDir }: Settings) => new RegistryDatabase(join(dataDir, 'registry.db')),
    },
    provideClass(SqliteTaskStore, [RegistryDatabase], TaskStore),
    provideClass(SqliteAuditLog, [RegistryDatabase], AuditLog),
    provideClass(Audit, [AuditLog, Clock]),
    provideClass(SqliteFolderStore, [RegistryDatabase], FolderStore),
    provideClass(SqliteSourceStore, [RegistryDatabase], SourceStore),
    { provide: Readiness, useClass: RegistryReadiness },
  ],
  exports: [TaskStore, Audit, AuditLog, FolderStore, SourceStore, Readiness],
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
