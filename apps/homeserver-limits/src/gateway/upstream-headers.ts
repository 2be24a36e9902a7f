import type { IncomingMessage } from 'node:http';
import { HOP_BY_HOP, NOT_REMOVABLE, REPLACED, REPLACED_OR_UNTRUSTED } from '@headgate/http-relay';

/** The headers of a message as received, without those of the connection. */
export function endToEndHeaders(message: IncomingMessage, excluded: readonly string[] = []): string[] {
  const named = namedByConnection(message.headers.connection);
  const { rawHeaders } = message;
  const kept: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i] ?? '';
    const name = header.toLowerCase();
    if (HOP_BY_HOP.has(name) || excluded.includes(name) || named.includes(name)) continue;
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
        .filter((name) => !NOT_REMOVABLE.has(name));

export interface ProxyTrust {
  trusts(peer: string): boolean;
}

/** The headers of a request to the upstream. */
export class UpstreamHeaders {
  constructor(
    /** For requests that name no host. */
    private readonly host: string,
    private readonly proxies: ProxyTrust,
  ) {}

  /** The caller's headers, with the peer's address added. Addresses claimed by an untrusted peer are dropped. */
  of(request: IncomingMessage): string[] {
    const peer = request.socket.remoteAddress ?? '';
    const trusted = this.proxies.trusts(peer);
    const headers = endToEndHeaders(request, trusted ? REPLACED : REPLACED_OR_UNTRUSTED);
    headers.push('X-Forwarded-For', this.forwardedFor(request));
    if (!headers.some((name, index) => index % 2 === 0 && name.toLowerCase() === 'x-forwarded-proto')) {
      headers.push('X-Forwarded-Proto', 'http');
    }
    if (request.headers['transfer-encoding'] !== undefined) headers.push('Transfer-Encoding', 'chunked');
    // A request of HTTP/1.0 may have no Host; the request to the upstream is HTTP/1.1.
    if (request.headers.host === undefined) headers.push('Host', this.host);
    return headers;
  }

  /** The addresses on the way of a request, with that of the peer. Those claimed by an untrusted peer are dropped. */
  forwardedFor(request: IncomingMessage): string {
    const peer = request.socket.remoteAddress ?? '';
    const forwarded = this.proxies.trusts(peer) ? request.headers['x-forwarded-for'] : undefined;
    return forwarded ? `${[forwarded].flat().join(', ')}, ${peer}` : peer;
  }
}

/**
 * A body that a bound has read as JSON is forwarded as JSON. Some servers read query parameters from the body of a
 * form, which no bound has checked.
 */
export const withJsonContentType = (headers: readonly string[]): string[] =>
  headers.map((value, index) => {
    const isContentType = index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'content-type';
    return isContentType && FORM.test(value) ? 'application/json' : value;
  });

export const FORM = /^\s*(?:application\/x-www-form-urlencoded|multipart\/)/i;
