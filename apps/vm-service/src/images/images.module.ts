import { Module } from '@nestjs/common';
import { ImageCatalog } from '@headgate/domain-contracts';
import { ConfiguredCatalog } from '@headgate/images';
import type { ChosenContexts } from '../composition/choose-contexts.js';
import type { Settings } from '../config/load-config.js';
import { BackendsModule } from '../composition/backends.module.js';
import { CONTEXTS, SETTINGS } from '../platform/tokens.js';
import { ImagesController } from './images.controller.js';

/** The registry of a simulated cluster: a name that no real host can have (RFC 2606). */
const SIMULATED_REGISTRY = 'registry.sandbox.example';

/** The image catalog. */
@Module({
  imports: [BackendsModule],
  controllers: [ImagesController],
  providers: [
    {
      provide: ImageCatalog,
      inject: [SETTINGS, CONTEXTS],
      useFactory: ({ imageRegistry, images }: Settings, { hasTinyGuest, simulated }: ChosenContexts) =>
        new ConfiguredCatalog({
          tiny: hasTinyGuest,
          registry: imageRegistry ?? (simulated.size > 0 ? SIMULATED_REGISTRY : undefined),
          images,
        }),
    },
  ],
  exports: [ImageCatalog],
})
export class ImagesModule {}
