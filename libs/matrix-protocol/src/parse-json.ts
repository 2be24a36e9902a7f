import { MatrixError } from './matrix-error.js';

export type JsonObject = { [key: string]: unknown };

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Maximum nesting of objects and arrays, so that code which walks a value can't overflow the stack. */
export const MAX_JSON_DEPTH = 500;

/**
 * Parses the bytes of a body. Keys such as `__proto__` stay plain data. Duplicate member names are refused, because two
 * parsers could read two different requests; so are lone surrogates, which can't be encoded in UTF-8.
 * @throws MatrixError M_NOT_JSON (invalid UTF-8 or JSON), M_BAD_JSON (duplicate member, lone surrogate, nested too
 *   deeply)
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  const value = parseText(text);
  rejectAmbiguities(text);
  return value;
}

/** Like parseJson, for a body that must be an object. If `optional`, an empty body counts as `{}`. */
export function parseJsonObject(bytes: Uint8Array, { optional = false } = {}): JsonObject {
  if (optional && bytes.length === 0) return {};
  const value = parseJson(bytes);
  if (!isJsonObject(value)) throw MatrixError.badJson('The body must be a JSON object.');
  return value;
}

/**
 * Like parseJsonObject, for a signed body: numbers must be integers that canonical JSON can represent.
 * @throws MatrixError M_BAD_JSON for a float, an exponent, `-0` or an integer beyond 2^53 - 1; numbers are never
 *   rounded
 */
export const parseSignedJsonObject = (bytes: Uint8Array, options?: { optional?: boolean }): JsonObject =>
  parseChecked(bytes, requireInteger, options);

/**
 * Like parseJsonObject, for a body that is stored and returned later: its numbers must survive unchanged.
 * @throws MatrixError M_BAD_JSON for a number out of the range of a double, or an integer beyond 2^53 - 1
 */
export const parseStoredJsonObject = (bytes: Uint8Array, options?: { optional?: boolean }): JsonObject =>
  parseChecked(bytes, requireExactNumber, options);

function parseChecked(bytes: Uint8Array, check: NumberCheck, options?: { optional?: boolean }): JsonObject {
  const value = parseJsonObject(bytes, options);
  if (bytes.length > 0) JSON.parse(decodeUtf8(bytes), check);
  return value;
}

type NumberCheck = (key: string, value: unknown, context?: { source?: string }) => unknown;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new MatrixError(400, 'M_NOT_JSON', 'The body is not valid UTF-8.', { cause });
  }
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MatrixError(400, 'M_NOT_JSON', 'The body is not valid JSON.', { cause });
  }
}

const requireInteger: NumberCheck = (_key, value, context) => {
  if (typeof value !== 'number') return value;
  const source = context?.source ?? '';
  if (!INTEGER.test(source) || !Number.isSafeInteger(value) || Object.is(value, -0)) {
    throw MatrixError.badJson(`The number ${shortened(source)} is not an integer within 2^53 - 1.`);
  }
  return value;
};

const requireExactNumber: NumberCheck = (_key, value, context) => {
  if (typeof value !== 'number') return value;
  const source = context?.source ?? '';
  if (!Number.isFinite(value) || (INTEGER.test(source) && !Number.isSafeInteger(value))) {
    throw MatrixError.badJson(`The number ${shortened(source)} can't be stored exactly.`);
  }
  return value;
};

const INTEGER = /^-?[0-9]+$/;
const shortened = (source: string): string => (source.length > 40 ? `${source.slice(0, 40)}…` : source);

const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The names of an open object's members; the only name of one with a single member, which needs no set. */
type Members = Set<string> | string | undefined;

/** Only for text that JSON.parse has accepted: a string before a colon is a member's name. */
function rejectAmbiguities(text: string): void {
  const open: Members[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      const token = text.slice(at, end);
      rejectLoneSurrogate(token);
      if (precedesColon(text, end)) open[open.length - 1] = withMember(open.at(-1), token);
      at = end - 1;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (open.push(undefined) > MAX_JSON_DEPTH) throw tooDeep();
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) open.pop();
  }
}

/** The position after the string that starts here. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
}

function precedesColon(text: string, from: number): boolean {
  let at = from;
  while (text.charCodeAt(at) <= 0x20) at++;
  return text.charCodeAt(at) === COLON;
}

/** The error for JSON that is nested deeper than `MAX_JSON_DEPTH`. */
export const tooDeep = () => MatrixError.badJson(`The body is nested deeper than ${MAX_JSON_DEPTH} levels.`);

function rejectLoneSurrogate(token: string): void {
  if (ESCAPED_SURROGATE.test(token) && LONE_SURROGATE.test(JSON.parse(token))) {
    throw MatrixError.badJson('A string contains a lone surrogate.');
  }
}

function withMember(members: Members, token: string): Members {
  const name: string = token.includes('\\') ? JSON.parse(token) : token.slice(1, -1);
  if (members === undefined) return name;
  const all = typeof members === 'string' ? new Set([members]) : members;
  if (all.has(name)) throw MatrixError.badJson('The body contains a member twice.');
  return all.add(name);
}
