import { Controller, Get } from '@nestjs/common';
import { CatalogEntryView } from '@headgate/api-contracts';
import { BackendDirectory, ImageCatalog } from '@headgate/domain-contracts';
import { answerList, Describe } from '../platform/answers.decorator.js';

@Controller('api/images')
export class ImagesController {
  constructor(
    private readonly backends: BackendDirectory,
    private readonly catalog: ImageCatalog,
  ) {}

  @Get()
  @Describe('The image catalog.', answerList(200, CatalogEntryView))
  images(): CatalogEntryView[] {
    const canTakeTiny = this.backends.all().some(({ kind }) => kind === 'libvirt');
    return this.catalog
      .entries()
      .filter(({ builtLocally }) => builtLocally === undefined || canTakeTiny)
      .map(({ name, description, containerDisk, defaultUser, custom }) => ({
        name,
        description,
        containerDisk,
        defaultUser,
        custom,
      }));
  }
}
