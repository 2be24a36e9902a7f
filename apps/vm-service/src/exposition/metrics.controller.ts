import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { MetricsSnapshot } from './metrics-snapshot.js';
import { answer, Describe } from '../platform/answers.decorator.js';

@Controller('metrics')
export class MetricsController {
  constructor(private readonly snapshot: MetricsSnapshot) {}

  @Get()
  @Describe('The exposition, from a snapshot.', answer(200, 'text/plain'))
  async read(@Res() reply: FastifyReply): Promise<void> {
    await reply.header('content-type', this.snapshot.contentType).send(this.snapshot.read());
  }
}
