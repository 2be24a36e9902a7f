import { Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { AddedContextStore, Clock, type BackendDirectory, type Log } from '@headgate/domain-contracts';
import { ContextTargets } from '../composition/context-targets.js';
import type { ChosenContexts } from '../composition/choose-contexts.js';
import type { Settings } from '../config/load-config.js';
import { CONTEXTS, LOGGER, SETTINGS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { AddedContexts } from './added-contexts.js';
import { Backends } from './backends.js';

/** Injects the backends as they are; requests use the BackendDirectory of the FleetModule. */
export const CONFIGURED_BACKENDS = Symbol('CONFIGURED_BACKENDS');

/**
 * The configured backends and those that were added over the API. They work in the data directory of the store, so they
 * close before it.
 */
@Module({
  imports: [StoreModule],
  providers: [
    {
      provide: Backends,
      inject: [CONTEXTS],
      useFactory: ({ backends }: ChosenContexts) => new Backends(backends),
    },
    { provide: CONFIGURED_BACKENDS, useExisting: Backends },
    {
      provide: ContextTargets,
      inject: [SETTINGS, Clock],
      useFactory: ({ addedContexts }: Settings, clock: Clock) => new ContextTargets(addedContexts.paths, clock),
    },
    {
      provide: AddedContexts,
      inject: [AddedContextStore, Backends, CONTEXTS, ContextTargets, SETTINGS, Clock, LOGGER],
      useFactory: (
        store: AddedContextStore,
        backends: Backends,
        { opener }: ChosenContexts,
        targets: ContextTargets,
        settings: Settings,
        clock: Clock,
        log: Log,
      ) => new AddedContexts({ store, backends, opener, targets, settings, clock, log }),
    },
  ],
  exports: [CONFIGURED_BACKENDS, Backends, ContextTargets, AddedContexts],
})
export class BackendsModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    @Inject(CONFIGURED_BACKENDS) private readonly backends: BackendDirectory,
    @Inject(CONTEXTS) private readonly contexts: ChosenContexts,
    private readonly added: AddedContexts,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.added.openStored();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.backends.all().map((backend) => backend.close()));
    await this.contexts.close();
  }
}
