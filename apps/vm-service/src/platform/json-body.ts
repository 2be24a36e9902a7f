import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/**
 * JSON is the only body that is read: anything else is 415, which also keeps forms of foreign pages out. An empty body
 * is no body, whatever its content type says.
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
