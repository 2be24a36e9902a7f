import { HEADER, HeaderLines, headerSet } from './header-lines.js';

/** The head of a request that every server reads in the same way. */
export interface RequestHead {
  readonly method: string;
  readonly target: string;
  /** 0 without a body. */
  readonly contentLength: number;
  /** Whether the client closes the connection after this request. */
  readonly closes: boolean;
  readonly headers: HeaderLines;
}

/** The head of a response of the upstream. */
export interface ResponseHead {
  readonly status: number;
  /** From the status on, without the end of the line. */
  readonly statusText: string;
  readonly contentLength: number | undefined;
  readonly isChunked: boolean;
  /** Whether the upstream keeps the connection open. */
  readonly persists: boolean;
  /** Headers that `Connection` names, in lower case. */
  readonly connectionHeaders: readonly string[];
  readonly headers: HeaderLines;
}

/** The same limit as that of Node, for the whole head. */
export const MAX_HEAD_BYTES = 16 * 1024;

const REQUEST_LINE = /^(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH) (\/[!-~]*) HTTP\/1\.1$/;
const STATUS_LINE = /^HTTP\/1\.[01] [1-9][0-9][0-9](?: [\t -~\x80-\xff]*)?$/;
const MINOR_VERSION_AT = 7;
const STATUS_AT = 9;
const ONE = 49;

/** Headers that change how a request is framed or answered. Node's server has the rules for them. */
const ODD = headerSet([
  'expect',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Servers disagree on which one counts when such a header is repeated. */
const SINGLE = headerSet([
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'host',
  'x-forwarded-for',
  'x-forwarded-proto',
]);
const HOST = headerSet(['host']);
const SINGLE_IN_RESPONSE = headerSet(['content-length', 'transfer-encoding']);

/**
 * Reads the head of a request.
 * @param end where the empty line ends
 * @returns undefined for anything that two servers could read differently, and for everything that is rare: it is left
 *   to Node's server
 */
export function readRequestHead(bytes: Buffer, end: number): RequestHead | undefined {
  if (end > MAX_HEAD_BYTES) return undefined;
  const text = bytes.toString('latin1', 0, end);
  const lineEnd = text.indexOf('\r\n');
  const line = REQUEST_LINE.exec(text.slice(0, lineEnd));
  if (!line) return undefined;
  const headers = HeaderLines.read(bytes, text, lineEnd + 2, true);
  if (!headers || (headers.set & ODD) !== 0 || (headers.repeated & SINGLE) !== 0) return undefined;
  if ((headers.set & HOST) === 0) return undefined;
  const contentLength = headers.has(HEADER['content-length']) ? lengthOf(headers) : 0;
  const connection = headers.value(HEADER.connection) ?? 'keep-alive';
  const closes = connection !== 'keep-alive' && connection.toLowerCase() === 'close';
  const isPlain = closes || connection === 'keep-alive' || connection.toLowerCase() === 'keep-alive';
  if (contentLength === undefined || !isPlain) return undefined;
  return { method: line[1] ?? '', target: line[2] ?? '', contentLength, closes, headers };
}

const MAX_LENGTH_DIGITS = 15;
const ZERO = 48;

/** The value of `Content-Length`; undefined unless it is a number in its shortest form. */
function lengthOf(headers: HeaderLines): number | undefined {
  const text = headers.value(HEADER['content-length']) ?? '';
  if (text.length === 0 || text.length > MAX_LENGTH_DIGITS) return undefined;
  if (text.length > 1 && text.charCodeAt(0) === ZERO) return undefined;
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    length = length * 10 + digit;
  }
  return length;
}

/** Whether these bytes, which are no whole head yet, begin like a request that `readRequestHead` may accept. */
export function beginsRequest(bytes: Buffer): boolean {
  const [line = '', ...rest] = bytes.toString('latin1', 0, MAX_HEAD_BYTES).split('\r\n', 2);
  return rest.length > 0 && REQUEST_LINE.test(line);
}

/**
 * Reads the head of a response.
 * @param end where the empty line ends
 * @returns undefined if it is invalid, or if the length of its body is ambiguous
 */
export function readResponseHead(bytes: Buffer, end: number): ResponseHead | undefined {
  const text = bytes.toString('latin1', 0, end);
  const lineEnd = text.indexOf('\r\n');
  if (!STATUS_LINE.test(text.slice(0, lineEnd))) return undefined;
  const headers = HeaderLines.read(bytes, text, lineEnd + 2, false);
  if (!headers || (headers.repeated & SINGLE_IN_RESPONSE) !== 0) return undefined;
  const hasLength = headers.has(HEADER['content-length']);
  const isChunked = headers.has(HEADER['transfer-encoding']);
  const contentLength = hasLength ? lengthOf(headers) : undefined;
  if (hasLength && (isChunked || contentLength === undefined)) return undefined;
  if (isChunked && headers.value(HEADER['transfer-encoding'])?.toLowerCase() !== 'chunked') return undefined;
  const options = connectionOptions(headers);
  const isHttp11 = text.charCodeAt(MINOR_VERSION_AT) === ONE;
  return {
    status: Number(text.slice(STATUS_AT, STATUS_AT + 3)),
    statusText: text.slice(STATUS_AT, lineEnd),
    contentLength,
    isChunked,
    persists: isHttp11 ? !options.includes('close') : options.includes('keep-alive'),
    connectionHeaders: options === KEEP_ALIVE ? NO_OPTIONS : options.filter((name) => !PERSISTENCE.includes(name)),
    headers,
  };
}

const PERSISTENCE: readonly string[] = ['close', 'keep-alive'];
const NO_OPTIONS: readonly string[] = [];
const KEEP_ALIVE: readonly string[] = ['keep-alive'];

/** In every `Connection` header. */
function connectionOptions(headers: HeaderLines): readonly string[] {
  const value = headers.value(HEADER.connection);
  if (value === undefined) return NO_OPTIONS;
  if (value === 'keep-alive' && !headers.isRepeated(HEADER.connection)) return KEEP_ALIVE;
  return headers
    .values(HEADER.connection)
    .flatMap((text) => text.toLowerCase().split(','))
    .map((option) => option.trim())
    .filter(Boolean);
}
