import { Module, type BeforeApplicationShutdown } from '@nestjs/common';
import { BackupStores, CloseFiles, DownloadFiles, FileSessions, OpenPointFiles, OpenVmFiles } from '@headgate/backups';
import { Audit, BackendDirectory, BackupTargetStore, Clock, Reservations } from '@headgate/domain-contracts';
import { BackupsModule } from '../backups/backups.module.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { INSTANCE_SOURCES } from '../platform/instance-tokens.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { StoreModule } from '../store/store.module.js';
import { FileAnswers } from './file-answers.js';
import { PointFilesController } from './point-files.controller.js';
import { VmFilesController } from './vm-files.controller.js';

/** The files in backups and on the disks of stopped VMs. */
@Module({
  imports: [StoreModule, FleetModule, BackupsModule],
  controllers: [PointFilesController, VmFilesController],
  providers: [
    FileAnswers,
    provideClass(FileSessions, [Clock]),
    provideDeps(OpenPointFiles, {
      targets: BackupTargetStore,
      stores: BackupStores,
      backends: BackendDirectory,
      sessions: FileSessions,
      audit: Audit,
    }),
    provideDeps(OpenVmFiles, {
      ...INSTANCE_SOURCES,
      reservations: Reservations,
      sessions: FileSessions,
      audit: Audit,
    }),
    provideDeps(DownloadFiles, { sessions: FileSessions, audit: Audit }),
    provideDeps(CloseFiles, { sessions: FileSessions, audit: Audit }),
  ],
})
export class FilesModule implements BeforeApplicationShutdown {
  constructor(private readonly sessions: FileSessions) {}

  /** The disks are free before their backends are closed. */
  beforeApplicationShutdown(): Promise<void> {
    return this.sessions.close();
  }
}
