import { createHash } from 'node:crypto';
import { Controller, Get, Req, Res } from '@nestjs/common';
import { anyCaller } from '@headgate/access';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Needs } from '../platform/needs.decorator.js';
import { acceptsEncoding } from '../platform/accept-encoding.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { matchesEtag } from '../platform/etag.js';
import { ApiDocument, type Served } from './api-document.js';
import { PAGE_STYLE } from './page-style.js';

/** The page runs no script, loads nothing, and can't be framed. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'`,
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The API document, for programs and for people. */
@Controller('api/ext')
export class ApiDocsController {
  constructor(private readonly document: ApiDocument) {}

  @Needs(anyCaller)
  @Get('openapi.json')
  @Describe('This document.', answer(200, 'application/json', 'etag'))
  async json(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.answer(await this.document.json(), 'application/json; charset=utf-8', request, reply);
  }

  @Needs(anyCaller)
  @Get('docs')
  @Describe('The API document as a page.', answer(200, 'text/html'))
  async page(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    void reply.header('content-security-policy', POLICY);
    this.answer(await this.document.page(), 'text/html; charset=utf-8', request, reply);
  }

  private answer(
    { bytes, gzipped, etag }: Served,
    type: string,
    { headers }: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const isGzip = acceptsEncoding(headers['accept-encoding'], 'gzip');
    const tag = isGzip ? etag.replace(/"$/, '-gz"') : etag;
    void reply.headers({ 'content-type': type, 'cache-control': 'no-cache', etag: tag, vary: 'accept-encoding' });
    if (matchesEtag(headers['if-none-match'], tag)) return void reply.status(304).send();
    if (isGzip) void reply.header('content-encoding', 'gzip');
    void reply.send(isGzip ? gzipped : bytes);
  }
}
