import { HEADER, headerSet } from '../parser/header-lines.js';
import type { RequestHead } from '../parser/http-head.js';
import { HOP_BY_HOP, REPLACED, REPLACED_OR_UNTRUSTED } from './forwarded-headers.js';

/** Where a connection comes from. */
export interface ClientPeer {
  readonly address: string;
  /** Whether its headers about the way of a request are trusted, as those of a reverse proxy. */
  readonly isTrusted: boolean;
}

const DROPPED_TRUSTED = headerSet([...HOP_BY_HOP, ...REPLACED]);
const DROPPED_UNTRUSTED = headerSet([...HOP_BY_HOP, ...REPLACED_OR_UNTRUSTED]);
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/**
 * The head of a request as the upstream receives it: the lines as received, without those of the connection, and with
 * the address of the peer.
 */
export function requestHeadText({ method, target, headers }: RequestHead, { address, isTrusted }: ClientPeer): string {
  const forwardedFor = isTrusted ? headers.value(HEADER['x-forwarded-for']) : undefined;
  const chain = forwardedFor ? `${forwardedFor}, ${address}` : address;
  const kept = headers.without(isTrusted ? DROPPED_TRUSTED : DROPPED_UNTRUSTED);
  let text = `${method} ${target} HTTP/1.1\r\n${kept}X-Forwarded-For: ${chain}\r\n`;
  if (!isTrusted || !headers.has(HEADER['x-forwarded-proto'])) text += 'X-Forwarded-Proto: http\r\n';
  if (METHODS_WITH_BODY.has(method) && !headers.has(HEADER['content-length'])) text += 'Content-Length: 0\r\n';
  return `${text}Connection: keep-alive\r\n\r\n`;
}
