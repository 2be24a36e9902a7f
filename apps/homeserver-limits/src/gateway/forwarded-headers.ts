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

/** The headers of a message as they came, less what belongs to the connection. */
export function endToEnd(message: IncomingMessage, without: readonly string[] = []): string[] {
  const named = (message.headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...HOP_BY_HOP, ...named, ...without]);
  const { rawHeaders } = message;
  const kept: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (!dropped.has(name.toLowerCase())) kept.push(name, rawHeaders[i + 1] ?? '');
  }
  return kept;
}

/**
 * What the upstream is told: the caller's headers, and whom we saw. The word of an untrusted caller about addresses is
 * dropped.
 */
export function towardsUpstream(request: IncomingMessage, peer: string, trusted: boolean): string[] {
  const headers = endToEnd(request, ['x-forwarded-for', 'expect', ...(trusted ? [] : UNTRUSTED)]);
  const before = trusted ? request.headers['x-forwarded-for'] : undefined;
  headers.push('X-Forwarded-For', before ? `${[before].flat().join(', ')}, ${peer}` : peer);
  if (!headers.some((name, index) => index % 2 === 0 && name.toLowerCase() === 'x-forwarded-proto')) {
    headers.push('X-Forwarded-Proto', 'http');
  }
  if (request.headers['transfer-encoding'] !== undefined) headers.push('Transfer-Encoding', 'chunked');
  return headers;
}

const UNTRUSTED = ['forwarded', 'x-real-ip', 'x-forwarded-proto', 'x-forwarded-host'];
