import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DomainError } from '@headgate/domain-contracts';

/** More fields than any body of the API has, with room for new ones. */
const MAX_FIELDS = 100;
/** As many as a bulk task has members. */
const MAX_PLAIN_ELEMENTS = 10_000;
const MAX_DEPTH = 10;

/** JSON merge patches (RFC 7396), which only PATCH accepts. */
export const PATCH_TYPE = 'application/merge-patch+json';

/** The route that also accepts a part of a file as its body. */
export const UPLOAD_PATH = '/api/datavolumes';
export const UPLOAD_TYPE = 'application/octet-stream';

/**
 * Accepts JSON bodies, and on one route files: anything else is 415, which also keeps out the forms of other sites. An
 * empty body counts as no body, whatever its content type. Validation takes longer than the size of a body suggests, so
 * its fields are counted first.
 */
export function acceptJsonOnly(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.removeAllContentTypeParsers();
  // Validation refuses `__proto__` and `constructor` like any other unknown field, with their names.
  const parse = fastify.getDefaultJsonParser('ignore', 'ignore');
  fastify.addContentTypeParser(['application/json', PATCH_TYPE], { parseAs: 'buffer' }, (request, body, done) => {
    if (request.method !== 'PATCH' && isPatch(request.headers['content-type'])) return done(notJson());
    let text: string;
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(body as Buffer);
    } catch (error) {
      return done(new DomainError('INVALID_INPUT', 'The body is not valid UTF-8.', { cause: error }));
    }
    if (text.trim() === '') return done(null, undefined);
    if (isTooDeep(text)) return done(tooComplex(`nested deeper than ${MAX_DEPTH} levels`));
    return void parse(request, text, (error, value) => {
      if (error) return done(error);
      if (countFields(value) > MAX_FIELDS)
        return done(tooComplex(`larger than ${MAX_FIELDS} fields, or ${MAX_PLAIN_ELEMENTS} strings of an array`));
      return done(null, value);
    });
  });
  // The stream itself is the body: the route reads as much of it as it wants.
  fastify.addContentTypeParser(UPLOAD_TYPE, (request, payload, done) => {
    const { method, url } = request.routeOptions;
    if (url === UPLOAD_PATH && method === 'POST') return done(null, payload);
    return done(notJson());
  });
}

const isPatch = (type = ''): boolean => type.toLowerCase().startsWith(PATCH_TYPE);

const notJson = (): DomainError =>
  new DomainError('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON, with content-type: application/json.');

const tooComplex = (problem: string): DomainError =>
  new DomainError('INVALID_INPUT', `The body must not be ${problem}.`);

/** Counts brackets outside strings: parsing a deeply nested text is what has to be avoided. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === '[' || token === '{') depth++;
    else if (token === ']' || token === '}') depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/**
 * All fields and elements, at every level. Its depth is bounded already. An array of only strings counts less, because
 * each of them is validated once.
 */
function countFields(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const values = Object.values(value);
  if (Array.isArray(value) && values.every((inner) => typeof inner === 'string'))
    return values.length > MAX_PLAIN_ELEMENTS ? values.length : Math.min(values.length, MAX_FIELDS / 4);
  if (values.length > MAX_FIELDS) return values.length;
  return values.reduce<number>((sum, inner) => sum + 1 + countFields(inner), 0);
}
