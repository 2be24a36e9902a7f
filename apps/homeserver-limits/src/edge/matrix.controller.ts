import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Dispatcher } from './dispatcher.js';

/** The path under which every Matrix request arrives, whatever its own path: the table of operations alone reads that. */
export const MATRIX_ROUTE = '/matrix-request';

@Controller()
export class MatrixController {
  constructor(private readonly dispatcher: Dispatcher) {}

  @All(MATRIX_ROUTE)
  async handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    reply.hijack();
    await this.dispatcher.dispatch(request.raw, reply.raw, request.originalUrl);
  }
}
