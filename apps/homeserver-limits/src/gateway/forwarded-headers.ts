import type { IncomingMessage } from 'node:http';

/** Headers that speak of one connection and not of the request. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Whose a connection's header may not take away: without its length the upstream would read a body as the next request,
 * which nobody has decided on.
 */
const NEVER_OF_THE_CONNECTION = new Set(['content-length', 'host']);

/** The headers of a message as they came, less what belongs to the connection. */
export function endToEnd(message: IncomingMessage, without: readonly string[] = []): string[] {
  const named = namedByConnection(message.headers.connection);
  const { rawHeaders } = message;
  const kept: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i] ?? '';
    const name = header.toLowerCase();
    if (HOP_BY_HOP.has(name) || without.includes(name) || named.includes(name)) continue;
    kept.push(header, rawHeaders[i + 1] ?? '');
  }
  return kept;
}

const namedByConnection = (value: string | undefined): readonly string[] =>
  value === undefined || /^(keep-alive|close)$/i.test(value)
    ? []
    : value
        .split(',')
        .map((name) => name.trim().toLowerCase())
        .filter((name) => !NEVER_OF_THE_CONNECTION.has(name));

/**
 * What the upstream is told: the caller's headers, and whom we saw. The word of an untrusted caller about addresses is
 * dropped.
 */
export function towardsUpstream(request: IncomingMessage, peer: string, trusted: boolean): string[] {
  const headers = endToEnd(request, trusted ? OURS : OURS_AND_UNTRUSTED);
  const before = trusted ? request.headers['x-forwarded-for'] : undefined;
  headers.push('X-Forwarded-For', before ? `${[before].flat().join(', ')}, ${peer}` : peer);
  if (!headers.some((name, index) => index % 2 === 0 && name.toLowerCase() === 'x-forwarded-proto')) {
    headers.push('X-Forwarded-Proto', 'http');
  }
  if (request.headers['transfer-encoding'] !== undefined) headers.push('Transfer-Encoding', 'chunked');
  return headers;
}

const OURS = ['x-forwarded-for', 'expect'];
const OURS_AND_UNTRUSTED = [...OURS, 'forwarded', 'x-real-ip', 'x-forwarded-proto', 'x-forwarded-host'];

/**
 * A body that was decided on as JSON goes on as JSON. Some servers look into the body of a form for what belongs into the
 * query, where nobody here has looked.
 */
export const asJson = (headers: readonly string[]): string[] =>
  headers.map((text, index) => {
    const type = index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'content-type';
    return type && FORM.test(text) ? 'application/json' : text;
  });

const FORM = /^\s*(?:application\/x-www-form-urlencoded|multipart\/)/i;
