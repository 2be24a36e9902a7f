import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { anyVisitor } from '@headgate/access';
import { PageQuery, ScriptQuery } from '@headgate/api-contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Needs } from '../platform/needs.decorator.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { acceptsEncoding } from '../platform/accept-encoding.js';
import { matchesEtag } from '../platform/etag.js';
import { PageAssets, type AssetName } from './page-assets.js';

/** The page loads nothing from other sites, runs only its own scripts, and can't be framed. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  // The font is a part of the style sheet.
  'font-src data:',
  "connect-src 'self'",
  "manifest-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

@Controller()
export class PageController {
  constructor(private readonly page: PageAssets) {}

  @Needs(anyVisitor)
  @Get()
  @Describe('The web console.', answer(200, 'text/html'))
  index(@Query() { token }: PageQuery, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    // The guard has redeemed the token; it must not stay in the address bar.
    if (token !== undefined) return void reply.status(303).header('location', '/').send();
    return this.answer('index.html', request, reply);
  }

  @Needs(anyVisitor)
  @Get('style.css')
  @Describe('The web console.', answer(200, 'text/css'))
  style(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    return this.answer('style.css', request, reply);
  }

  @Needs(anyVisitor)
  @Get('app.js')
  @Describe('The web console.', answer(200, 'text/javascript'))
  app(@Query() { part }: ScriptQuery, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    return this.answer(part === 'consoles' ? 'screen-libraries.js' : 'app.js', request, reply);
  }

  @Needs(anyVisitor)
  @Get('icons.js')
  @Describe('The web console.', answer(200, 'text/javascript'))
  icons(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    return this.answer('icons.js', request, reply);
  }

  // The contract leaves only four files to the root.
  @Needs(anyVisitor)
  @Get('api/ext/page/manifest.webmanifest')
  @Describe('What a browser needs to install the web console.', answer(200, 'application/manifest+json'))
  manifest(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    return this.answer('manifest.webmanifest', request, reply);
  }

  @Needs(anyVisitor)
  @Get('api/ext/page/icon.svg')
  @Describe('The icon of the web console.', answer(200, 'image/svg+xml'))
  icon(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    return this.answer('icon.svg', request, reply);
  }

  @Needs(anyVisitor)
  @Get('api/ext/page/icon.png')
  @Describe('The icon of the web console, for devices that draw no SVG.', answer(200, 'image/png'))
  bitmap(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    return this.answer('icon.png', request, reply);
  }

  @Needs(anyVisitor)
  @Get('api/ext/page/de.json')
  @Describe('The texts of the web console in German.', answer(200, 'application/json'))
  german(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    return this.answer('de.json', request, reply);
  }

  private answer(name: AssetName, request: FastifyRequest, reply: FastifyReply): void {
    const { type, bodies } = this.page.get(name);
    const accepted = request.headers['accept-encoding'];
    const { coding, etag, bytes } =
      bodies.find((body) => body.coding !== undefined && acceptsEncoding(accepted, body.coding)) ?? bodies.at(-1)!;
    void reply.headers({
      'content-type': type,
      'cache-control': 'no-cache',
      etag,
      vary: 'accept-encoding',
      'content-security-policy': POLICY,
    });
    if (matchesEtag(request.headers['if-none-match'], etag)) return void reply.status(304).send();
    if (coding !== undefined) void reply.header('content-encoding', coding);
    void reply.send(bytes);
  }
}
