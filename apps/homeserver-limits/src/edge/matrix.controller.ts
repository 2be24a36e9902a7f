import { All, Controller, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Dispatcher } from './dispatcher.js';

/** The path under which every Matrix request is routed. Only the table of operations reads the request's own path. */
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
