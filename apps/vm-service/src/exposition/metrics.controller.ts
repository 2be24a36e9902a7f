import { Controller, Get, Req, Res } from '@nestjs/common';
import { everything } from '@headgate/access';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GzipBlocks } from '../fleet/gzip/gzip-blocks.js';
import { acceptsEncoding } from '../platform/accept-encoding.js';
import { MetricsSnapshot } from './metrics-snapshot.js';
import { Needs } from '../platform/needs.decorator.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { sendPieces } from '../platform/send-pieces.js';

@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly snapshot: MetricsSnapshot,
    private readonly gzip: GzipBlocks,
  ) {}

  @Needs(everything('read'))
  @Get()
  @Describe('The exposition, from a snapshot.', answer(200, 'text/plain'))
  async read(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const pieces = this.snapshot.read();
    const isGzip = acceptsEncoding(request.headers['accept-encoding'], 'gzip');
    void reply.header('content-type', this.snapshot.contentType).header('vary', 'accept-encoding');
    if (isGzip) void reply.header('content-encoding', 'gzip');
    // The first scrape of a collection compresses it, the others send the same bytes.
    sendPieces(reply, isGzip ? await this.gzip.file(pieces) : pieces);
  }
}
