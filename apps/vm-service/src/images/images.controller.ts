import { Controller, Get, Inject } from '@nestjs/common';
import { sharedData } from '@headgate/access';
import { CatalogEntryView } from '@headgate/api-contracts';
import { ImageCatalog, type BackendDirectory } from '@headgate/domain-contracts';
import { CONFIGURED_BACKENDS } from '../fleet/backends.module.js';
import { Needs } from '../platform/needs.decorator.js';
import { answerList, Describe } from '../platform/answers.decorator.js';
import { presentImage } from './present-image.js';

@Controller('api/images')
export class ImagesController {
  constructor(
    @Inject(CONFIGURED_BACKENDS) private readonly backends: BackendDirectory,
    private readonly catalog: ImageCatalog,
  ) {}

  @Needs(sharedData)
  @Get()
  @Describe('The images that some context can use.', answerList(200, CatalogEntryView))
  images(): CatalogEntryView[] {
    const usable = new Set(this.backends.all().flatMap(({ traits }) => traits.imageKinds));
    return this.catalog
      .entries()
      .map(presentImage)
      .filter(({ kind }) => usable.has(kind));
  }
}
