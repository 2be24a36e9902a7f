import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { BackendDirectory } from '@headgate/domain-contracts';
import { CONTEXTS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { Backends } from './backends.js';
import type { ChosenContexts } from '../composition/choose-contexts.js';

/** Injects the configured backends as they are; requests use the BackendDirectory of the FleetModule. */
export const CONFIGURED_BACKENDS = Symbol('CONFIGURED_BACKENDS');

/** The configured backends. They work in the data directory of the store, so they close before it. */
@Module({
  imports: [StoreModule],
  providers: [
    {
      provide: CONFIGURED_BACKENDS,
      inject: [CONTEXTS],
      useFactory: ({ backends }: ChosenContexts) => new Backends(backends),
    },
  ],
  exports: [CONFIGURED_BACKENDS],
})
export class BackendsModule implements OnApplicationShutdown {
  constructor(
    @Inject(CONFIGURED_BACKENDS) private readonly backends: BackendDirectory,
    @Inject(CONTEXTS) private readonly contexts: ChosenContexts,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.backends.all().map((backend) => backend.close()));
    await this.contexts.close();
  }
}
