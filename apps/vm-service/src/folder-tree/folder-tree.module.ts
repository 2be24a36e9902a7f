import { Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { FolderDirectory, FolderStore } from '@headgate/domain-contracts';
import { Folders } from '@headgate/folders';
import { provideClass } from '../platform/provide-class.js';
import { CONTEXTS, LOGGER } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import type { ChosenContexts } from '../composition/choose-contexts.js';
import { SimulatedFolders } from './simulated-folders.js';

/** The folder of each instance. Below the fleet, whose entries show it. */
@Module({
  imports: [StoreModule],
  providers: [provideClass(Folders, [FolderStore, LOGGER]), { provide: FolderDirectory, useExisting: Folders }],
  exports: [Folders, FolderDirectory],
})
export class FolderTreeModule implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly simulated: SimulatedFolders;

  constructor(
    private readonly folders: Folders,
    @Inject(CONTEXTS) { simulatedFolders = [] }: Pick<ChosenContexts, 'simulatedFolders'>,
  ) {
    this.simulated = new SimulatedFolders(folders, simulatedFolders);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.folders.open();
    await this.simulated.open();
  }

  async onApplicationShutdown(): Promise<void> {
    this.folders.close();
    await this.simulated.close();
  }
}
