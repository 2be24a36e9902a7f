import { Module } from '@nestjs/common';
import { Audit, ImageCatalog, SourceStore } from '@headgate/domain-contracts';
import { AddSource, CatalogWithSources, ConfiguredCatalog, RemoveSource } from '@headgate/images';
import type { ChosenContexts } from '../composition/choose-contexts.js';
import type { Settings } from '../config/load-config.js';
import { BackendsModule } from '../fleet/backends.module.js';
import { provideClass } from '../platform/provide-class.js';
import { CONTEXTS, SETTINGS } from '../platform/tokens.js';
import { StoreModule } from '../store/store.module.js';
import { ImagesController } from './images.controller.js';
import { SourcesController } from './sources.controller.js';

/** The images of the configuration, without those that users have added. */
const CONFIGURED_CATALOG = Symbol('the configured catalog');

/** The image catalog. */
@Module({
  imports: [BackendsModule, StoreModule],
  controllers: [ImagesController, SourcesController],
  providers: [
    {
      provide: CONFIGURED_CATALOG,
      inject: [SETTINGS, CONTEXTS],
      useFactory: ({ catalog, imageRegistry, images }: Settings, { hasTinyGuest }: ChosenContexts) =>
        new ConfiguredCatalog({ tiny: hasTinyGuest, catalog, registry: imageRegistry, images }),
    },
    provideClass(CatalogWithSources, [CONFIGURED_CATALOG, SourceStore]),
    { provide: ImageCatalog, useExisting: CatalogWithSources },
    provideClass(AddSource, [CONFIGURED_CATALOG, SourceStore, Audit]),
    provideClass(RemoveSource, [SourceStore, Audit]),
  ],
  exports: [ImageCatalog],
})
export class ImagesModule {}
