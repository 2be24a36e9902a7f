import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { MetricsSnapshot } from './metrics-snapshot.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { sendPieces } from '../platform/send-pieces.js';

@Controller('metrics')
export class MetricsController {
  constructor(private readonly snapshot: MetricsSnapshot) {}

  @Get()
  @Describe('The exposition, from a snapshot.', answer(200, 'text/plain'))
  read(@Res() reply: FastifyReply): void {
    void reply.header('content-type', this.snapshot.contentType);
    sendPieces(reply, this.snapshot.read());
  }
}
