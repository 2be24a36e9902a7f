import { HEADER, headerSet } from '../parser/header-lines.js';
import type { ResponseHead } from '../parser/http-head.js';
import { HOP_BY_HOP, NOT_REMOVABLE } from './forwarded-headers.js';

const DROPPED_FROM_RESPONSE = headerSet(HOP_BY_HOP);

const isRemovable = (name: string): boolean => !NOT_REMOVABLE.has(name);

export interface ResponseHeadOptions {
  isChunked: boolean;
  /** Whether the connection is closed after this response. */
  closes: boolean;
}

/** The head of a response as the client receives it. */
export function responseHeadText(head: ResponseHead, { isChunked, closes }: ResponseHeadOptions): string {
  const { headers, connectionHeaders } = head;
  const named = connectionHeaders.length === 0 ? connectionHeaders : connectionHeaders.filter(isRemovable);
  const statusLine = head.statusText.length > 3 ? head.statusText : `${head.statusText} `;
  const kept =
    named.length === 0 ? headers.without(DROPPED_FROM_RESPONSE) : headers.withoutNamed(DROPPED_FROM_RESPONSE, named);
  let text = `HTTP/1.1 ${statusLine}\r\n${kept}`;
  if (!headers.has(HEADER.date)) text += `Date: ${new Date().toUTCString()}\r\n`;
  if (isChunked) text += 'Transfer-Encoding: chunked\r\n';
  return text + (closes ? 'Connection: close\r\n\r\n' : 'Connection: keep-alive\r\nKeep-Alive: timeout=72\r\n\r\n');
}
