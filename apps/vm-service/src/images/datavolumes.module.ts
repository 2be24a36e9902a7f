import { join } from 'node:path';
import { Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Audit, BackendDirectory, Clock, Reservations, TaskRunner } from '@headgate/domain-contracts';
import { DeleteImage, ImportedImageDirectory, ImportImage, UploadImage, Uploads } from '@headgate/images';
import { QueryBackends } from '../fleet/query-backends.js';
import type { Settings } from '../config/load-config.js';
import { FleetModule } from '../fleet/fleet.module.js';
import { provideClass } from '../platform/provide-class.js';
import { provideDeps } from '../platform/provide-deps.js';
import { SETTINGS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { DataVolumesController } from './datavolumes.controller.js';

const IMAGE_DEPS = {
  directory: ImportedImageDirectory,
  uploads: Uploads,
  tasks: TaskRunner,
  audit: Audit,
  reservations: Reservations,
} as const;

/** Imported images and uploads. */
@Module({
  imports: [StoreModule, FleetModule, TasksModule],
  controllers: [DataVolumesController],
  providers: [
    provideClass(QueryBackends, [BackendDirectory]),
    {
      provide: Uploads,
      inject: [SETTINGS, Clock],
      useFactory: ({ dataDir }: Settings, clock: Clock) => new Uploads({ folder: join(dataDir, 'uploads'), clock }),
    },
    provideClass(ImportedImageDirectory, [BackendDirectory, Uploads]),
    provideDeps(ImportImage, IMAGE_DEPS),
    provideDeps(UploadImage, IMAGE_DEPS),
    provideDeps(DeleteImage, IMAGE_DEPS),
  ],
})
export class DataVolumesModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(private readonly uploads: Uploads) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.uploads.sweep();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.uploads.close();
  }
}
