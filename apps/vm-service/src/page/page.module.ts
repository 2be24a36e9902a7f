import { Module } from '@nestjs/common';
import { provideClass } from '../platform/provide-class.js';
import { PAGE_DIR } from '../platform/tokens.js';
import { PageAssets } from './page-assets.js';
import { PageController } from './page.controller.js';

/** The web console. */
@Module({
  controllers: [PageController],
  providers: [provideClass(PageAssets, [PAGE_DIR])],
})
export class PageModule {}
