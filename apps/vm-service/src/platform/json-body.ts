import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/**
 * Accepts JSON bodies only: anything else is 415, which also keeps out the forms of other sites. An empty body counts as no
 * body, whatever its content type.
 */
export function acceptJsonOnly(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.removeAllContentTypeParsers();
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = body as string;
    if (text.trim() === '') done(null, undefined);
    else void parse(request, text, done);
  });
}
