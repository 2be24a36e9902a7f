import { MatrixError } from './matrix-error.js';

export type JsonObject = { [key: string]: unknown };

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a body from its bytes. Keys such as `__proto__` stay plain data. An object that names a member twice is refused:
 * two readers of it could see two different requests.
 * @throws MatrixError M_NOT_JSON (no UTF-8, no JSON), M_BAD_JSON (a member twice)
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  const value = readText(text);
  refuseDuplicateMembers(text);
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
export function parseSignedJsonObject(bytes: Uint8Array): JsonObject {
  const value = parseJsonObject(bytes);
  JSON.parse(decodeUtf8(bytes), refuseInexactNumber);
  return value;
}

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

function refuseInexactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number') return value;
  const source = context?.source ?? '';
  if (!/^-?[0-9]+$/.test(source) || !Number.isSafeInteger(value) || Object.is(value, -0)) {
    throw MatrixError.badJson(`The number ${source} is not an integer within 2^53 - 1.`);
  }
  return value;
}

// Only runs on text that JSON.parse has accepted: a string before a colon is a member's name.
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}]/gy;
const BETWEEN = /[^"{}]*/y;
const COLON = /\s*:/y;

function refuseDuplicateMembers(text: string): void {
  const open: Set<string>[] = [];
  for (let at = skip(text, 0); at < text.length;) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0] ?? '';
    at += token.length;
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else {
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

function noteMember(members: Set<string> | undefined, token: string): void {
  const name: string = token.includes('\\') ? JSON.parse(token) : token.slice(1, -1);
  if (members?.has(name)) throw MatrixError.badJson('The body names one member twice.');
  members?.add(name);
}
