import { Body, Controller, Delete, Get, Post, Req, Res } from '@nestjs/common';
import { anyAgent } from '@headgate/access';
import type { Caller } from '@headgate/domain-contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answer, Describe } from '../../platform/answers.decorator.js';
import { CurrentCaller } from '../../platform/caller.decorator.js';
import { Needs } from '../../platform/needs.decorator.js';
import { McpSessions } from './mcp-sessions.js';

/** The Model Context Protocol over streamable HTTP, for agents whose API token has a leash. */
@Controller('api/ext/mcp')
export class McpController {
  constructor(private readonly sessions: McpSessions) {}

  @Needs(anyAgent)
  @Post()
  @Describe('A message of the Model Context Protocol, with its response as JSON.', answer(200, 'application/json'))
  post(
    @Body() body: unknown,
    @CurrentCaller() caller: Caller,
    @Req() { headers }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answer({ method: 'POST', headers, body, caller }, reply);
  }

  @Needs(anyAgent)
  @Delete()
  @Describe('Ends a session of the Model Context Protocol.', answer(200, 'application/json'))
  end(@CurrentCaller() caller: Caller, @Req() { headers }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer({ method: 'DELETE', headers, body: undefined, caller }, reply);
  }

  /** What the protocol demands of a server that sends no messages of its own. */
  @Needs(anyAgent)
  @Get()
  @Describe('Refused with 405: the service sends agents no messages of its own.', answer(200, 'application/json'))
  async stream(@Res() reply: FastifyReply): Promise<void> {
    const body = { error: 'The service sends agents no messages of its own; use POST.', code: 'NOT_SUPPORTED' };
    await reply.status(405).header('allow', 'POST, DELETE').send(body);
  }

  private async answer(message: Parameters<McpSessions['handle']>[0], reply: FastifyReply): Promise<void> {
    const response = await this.sessions.handle(message);
    response.headers.forEach((value, name) => void reply.header(name, value));
    await reply.status(response.status).send(await response.text());
  }
}
