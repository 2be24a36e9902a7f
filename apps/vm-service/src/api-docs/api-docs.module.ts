import { Module } from '@nestjs/common';
import { ApiDocsController } from './api-docs.controller.js';
import { ApiDocument } from './api-document.js';

/** The API document and its page. */
@Module({
  controllers: [ApiDocsController],
  providers: [ApiDocument],
})
export class ApiDocsModule {}
