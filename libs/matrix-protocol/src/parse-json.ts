import { MatrixError } from './matrix-error.js';

export type JsonObject = { [key: string]: unknown };

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** How many objects and lists may stand in one another: whoever walks through a value does so without a stack overflow. */
export const MAX_JSON_DEPTH = 500;

/**
 * Reads a body from its bytes. Keys such as `__proto__` stay plain data. An object that names a member twice is refused:
 * two readers of it could see two different requests. So is half a surrogate pair, which no UTF-8 can carry on.
 * @throws MatrixError M_NOT_JSON (no UTF-8, no JSON), M_BAD_JSON (a member twice, half a surrogate pair, too deep)
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  const value = readText(text);
  refuseTraps(text);
  return value;
}

/** Like parseJson, for a body that must be an object; an empty body counts as `{}` where `optional`. */
export function parseJsonObject(bytes: Uint8Array, { optional = false } = {}): JsonObject {
  if (optional && bytes.length === 0) return {};
  const value = parseJson(bytes);
  if (!isJsonObject(value)) throw MatrixError.badJson('The body must be a JSON object.');
  return value;
}

/**
 * Like parseJsonObject, for a body under a signature: numbers are the integers that canonical JSON can carry.
 * @throws MatrixError M_BAD_JSON for a float, an exponent, `-0` or an integer beyond 2^53 - 1: refused, never rounded
 */
export const parseSignedJsonObject = (bytes: Uint8Array, options?: { optional?: boolean }): JsonObject =>
  parseChecked(bytes, refuseInexactNumber, options);

/**
 * Like parseJsonObject, for a body that is kept and handed out again: it comes out with the numbers that went in.
 * @throws MatrixError M_BAD_JSON for a number beyond what a double holds, or an integer beyond 2^53 - 1
 */
export const parseStoredJsonObject = (bytes: Uint8Array, options?: { optional?: boolean }): JsonObject =>
  parseChecked(bytes, refuseRoundedNumber, options);

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
    throw new MatrixError(400, 'M_NOT_JSON', 'The body is not valid UTF-8.', {}, { cause });
  }
}

function readText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MatrixError(400, 'M_NOT_JSON', 'The body is not valid JSON.', {}, { cause });
  }
}

const refuseInexactNumber: NumberCheck = (_key, value, context) => {
  if (typeof value !== 'number') return value;
  const source = context?.source ?? '';
  if (!INTEGER.test(source) || !Number.isSafeInteger(value) || Object.is(value, -0)) {
    throw MatrixError.badJson(`The number ${shortened(source)} is not an integer within 2^53 - 1.`);
  }
  return value;
};

const refuseRoundedNumber: NumberCheck = (_key, value, context) => {
  if (typeof value !== 'number') return value;
  const source = context?.source ?? '';
  if (!Number.isFinite(value) || (INTEGER.test(source) && !Number.isSafeInteger(value))) {
    throw MatrixError.badJson(`The number ${shortened(source)} cannot be kept as it is.`);
  }
  return value;
};

const INTEGER = /^-?[0-9]+$/;
const shortened = (source: string): string => (source.length > 40 ? `${source.slice(0, 40)}…` : source);

// Only runs on text that JSON.parse has accepted: a string before a colon is a member's name.
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]]/gy;
const BETWEEN = /[^"{}[\]]*/y;
const COLON = /\s*:/y;
const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

type Members = Set<string>;

function refuseTraps(text: string): void {
  const open: (Members | undefined)[] = [];
  for (let at = skip(text, 0); at < text.length;) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0] ?? '';
    at += token.length;
    if (token === '{' || token === '[') {
      if (open.push(token === '{' ? new Set() : undefined) > MAX_JSON_DEPTH) throw tooDeep();
    } else if (token === '}' || token === ']') open.pop();
    else {
      refuseLoneSurrogate(token);
      COLON.lastIndex = at;
      if (COLON.test(text)) noteMember(open.at(-1), token);
    }
    at = skip(text, at);
  }
}

function skip(text: string, from: number): number {
  BETWEEN.lastIndex = from;
  BETWEEN.test(text);
  return BETWEEN.lastIndex;
}

const tooDeep = () => MatrixError.badJson(`The body is nested deeper than ${MAX_JSON_DEPTH} levels.`);

function refuseLoneSurrogate(token: string): void {
  if (ESCAPED_SURROGATE.test(token) && LONE_SURROGATE.test(JSON.parse(token))) {
    throw MatrixError.badJson('A string holds a lone surrogate.');
  }
}

function noteMember(members: Members | undefined, token: string): void {
  const name: string = token.includes('\\') ? JSON.parse(token) : token.slice(1, -1);
  if (members?.has(name)) throw MatrixError.badJson('The body names one member twice.');
  members?.add(name);
}
