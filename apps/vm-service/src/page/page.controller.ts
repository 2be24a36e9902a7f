import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { PageQuery, ScriptQuery } from '@headgate/api-contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answer, Describe } from '../platform/answers.decorator.js';
import { PageAssets, type AssetName } from './page-assets.js';

/** The page loads nothing from other sites, runs only its own scripts, and can't be framed. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

@Controller()
export class PageController {
  constructor(private readonly page: PageAssets) {}

  @Get()
  @Describe('The web console.', answer(200, 'text/html'))
  async index(
    @Query() { token }: PageQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    // The guard has redeemed the token; it must not stay in the address bar.
    if (token !== undefined) return void reply.status(303).header('location', '/').send();
    return this.answer('index.html', request, reply);
  }

  @Get('style.css')
  @Describe('The web console.', answer(200, 'text/css'))
  style(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer('style.css', request, reply);
  }

  @Get('app.js')
  @Describe('The web console.', answer(200, 'text/javascript'))
  app(@Query() { part }: ScriptQuery, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer(part === 'consoles' ? 'screen-libraries.js' : 'app.js', request, reply);
  }

  @Get('icons.js')
  @Describe('The web console.', answer(200, 'text/javascript'))
  icons(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answer('icons.js', request, reply);
  }

  private async answer(name: AssetName, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const asset = this.page.get(name);
    void reply.headers({
      'content-type': asset.type,
      'cache-control': 'no-cache',
      etag: asset.etag,
      vary: 'accept-encoding',
      'content-security-policy': POLICY,
    });
    if (request.headers['if-none-match']?.includes(asset.etag)) return void reply.status(304).send();
    if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return void reply.send(asset.body);
    void reply.header('content-encoding', 'gzip').send(await asset.gzipped());
  }
}
