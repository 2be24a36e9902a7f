import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { MetricsSnapshot } from './metrics-snapshot.js';

@Controller('metrics')
export class MetricsController {
  constructor(private readonly snapshot: MetricsSnapshot) {}

  @Get()
  async read(@Res() reply: FastifyReply): Promise<void> {
    await reply.header('content-type', this.snapshot.contentType).send(this.snapshot.read());
  }
}
