import { createHash, createHmac } from 'node:crypto';
import type { Readable } from 'node:stream';
import { DomainError, type Caller } from '@headgate/domain-contracts';
import type { FastifyRequest } from 'fastify';
import { deriveKey } from './derive-key.js';

/** The header, as Node names it. */
export const KEY_HEADER = 'idempotency-key';
const METHODS: readonly string[] = ['POST', 'PATCH'];
/** Visible ASCII characters. Node joins a header that was sent twice with a space, so that it is refused. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** A request with an idempotency key. */
export interface KeyedRequest {
  /** Never stored. */
  readonly key: string;
  /** A hash of the caller, the method, the path and the key, in hexadecimal digits. */
  readonly scope: string;
  /** A hash of the caller, in hexadecimal digits. */
  readonly caller: string;
  /** A hash of the query and the body, in hexadecimal digits. */
  readonly request: string;
}

/**
 * @returns undefined for a request that is carried out each time it is sent: without a key, with a method that may be
 *   repeated in any case, or a dry run
 * @throws DomainError INVALID_INPUT
 */
export function keyedRequest({ headers, method, url, query, body }: FastifyRequest, caller: Caller) {
  const key = headers[KEY_HEADER];
  if (key === undefined || !METHODS.includes(method)) return undefined;
  if ((query as Readonly<Record<string, unknown>>)['dryRun'] === 'true') return undefined;
  if (typeof key !== 'string' || !KEY.test(key))
    throw new DomainError(
      'INVALID_INPUT',
      'Idempotency-Key: must have 1 to 255 visible ASCII characters; a random UUID is a good key.',
    );
  const [path = '', parameters = ''] = url.split(/\?(.*)/s, 2);
  const who = JSON.stringify([caller.login, caller.token ?? '']);
  const scope = hash(JSON.stringify([who, method, path, key]));
  return { key, scope, caller: hash(who), request: digest(key, scope, [parameters, textOf(body, headers)]) };
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** With a key, because the body may have a password that is easy to guess. */
const digest = (key: string, scope: string, parts: readonly string[]): string =>
  createHmac('sha256', deriveKey(key, scope, 'request'))
    .update(JSON.stringify(parts))
    .digest('hex');

/** The body in one form: an empty body, `{}` and none are the same, and the order of fields has no meaning. */
function textOf(body: unknown, headers: FastifyRequest['headers']): string {
  // A part of a file is too large to be read twice. Its place is in the query.
  if (isStream(body)) return `file ${headers['content-length'] ?? ''}`;
  return JSON.stringify(sorted(body ?? {}));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  // Pairs instead of an object, which would lose `__proto__`.
  return {
    fields: Object.entries(value)
      .map(([name, inner]) => [name, sorted(inner)])
      .sort(byName),
  };
}

const byName = ([a]: unknown[], [b]: unknown[]): number => (String(a) < String(b) ? -1 : 1);

export const isStream = (body: unknown): body is Readable =>
  typeof (body as Partial<Readable> | null)?.pipe === 'function';
