import { MatrixError } from '@headgate/matrix-protocol';
import { Controller, Get, Param, StreamableFile } from '@nestjs/common';
import { DeskFiles, isDeskFile } from './desk-files.js';
import { Public } from './operator.guard.js';

/** The operator's desk: a page without any data, which asks for a token and then calls the API. */
@Controller('desk')
export class DeskController {
  constructor(private readonly files: DeskFiles) {}

  @Public()
  @Get()
  page(): Promise<StreamableFile> {
    return this.file('index.html');
  }

  @Public()
  @Get(':name')
  async file(@Param('name') name: string): Promise<StreamableFile> {
    if (!isDeskFile(name)) throw MatrixError.unrecognized();
    const { type, content } = await this.files.read(name).catch(() => {
      throw MatrixError.notFound('The desk is not a part of this build.');
    });
    return new StreamableFile(content, { type, length: content.length });
  }
}
