import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ExportQuery, InstancePath } from '@headgate/api-contracts';
import type { Caller, ExportFormat } from '@headgate/domain-contracts';
import { ExportDisk } from '@headgate/instances';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentCaller } from '../identity/caller.decorator.js';
import { instanceQuery } from '../instances/instance-request.js';
import { answer, Describe } from '../platform/answers.decorator.js';

const FILES: Readonly<Record<ExportFormat, { readonly extension: string; readonly type: string }>> = {
  'raw.gz': { extension: 'img.gz', type: 'application/gzip' },
  qcow2: { extension: 'qcow2', type: 'application/octet-stream' },
};

@Controller('api/vms')
export class ExportController {
  constructor(private readonly exportDisk: ExportDisk) {}

  @Get(':ns/:name/export')
  @Describe(
    'The boot disk of a stopped VM, for administrators: the raw image compressed with gzip, or a compressed qcow2 image.',
    answer(200, 'application/gzip'),
    answer(200, 'application/octet-stream'),
  )
  async export(
    @Param() path: InstancePath,
    @Query() query: ExportQuery,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const format: ExportFormat = query.format ?? 'raw.gz';
    const { extension, type } = FILES[format];
    const wanted = { query: instanceQuery('vm', path, query), format, caller };
    const headers = {
      'content-type': type,
      'content-disposition': `attachment; filename="${path.name}.${extension}"`,
    };
    if (request.method === 'HEAD') {
      await this.exportDisk.check(wanted);
      return void reply.headers(headers).send();
    }
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort(new Error('The client has left.')));
    const stream = await this.exportDisk.open(wanted, gone.signal);
    void reply.headers(headers).send(stream);
  }
}
