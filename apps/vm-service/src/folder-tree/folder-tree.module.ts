import { Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { FolderDirectory, FolderStore } from '@headgate/domain-contracts';
import { Folders } from '@headgate/folders';
import { provideClass } from '../platform/provide-class.js';
import { LOGGER } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';

/** The folder of each instance. Below the fleet, whose entries show it. */
@Module({
  imports: [StoreModule],
  providers: [provideClass(Folders, [FolderStore, LOGGER]), { provide: FolderDirectory, useExisting: Folders }],
  exports: [Folders, FolderDirectory],
})
export class FolderTreeModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(private readonly folders: Folders) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.folders.open();
  }

  onApplicationShutdown(): void {
    this.folders.close();
  }
}
