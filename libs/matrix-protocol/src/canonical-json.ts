import { MatrixError } from './matrix-error.js';

/**
 * Serializes a value as canonical JSON, the form that signatures cover: no white space, members sorted by code point,
 * integers only. Undefined members are omitted, as in JSON.stringify.
 * @throws MatrixError M_BAD_JSON for values without a canonical form: floats, large integers, lone surrogates,
 *   undefined
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return canonicalString(value);
    case 'number':
      return canonicalInteger(value);
    case 'boolean':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? `[${value.map(canonicalJson).join(',')}]` : canonicalObject(value);
    default:
      throw MatrixError.badJson(`A ${typeof value} has no canonical form.`);
  }
}

function canonicalObject(value: object): string {
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => compareCodePoints(a, b));
  return `{${members.map(([name, member]) => `${canonicalString(name)}:${canonicalJson(member)}`).join(',')}}`;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

// JSON.stringify escapes exactly like canonical JSON, except that it also accepts lone surrogates.
function canonicalString(text: string): string {
  if (LONE_SURROGATE.test(text)) throw MatrixError.badJson('A string contains a lone surrogate.');
  return JSON.stringify(text);
}

function canonicalInteger(value: number): string {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
    throw MatrixError.badJson(`The number ${value} is not an integer within 2^53 - 1.`);
  }
  return String(value);
}

/** JavaScript compares UTF-16 code units, which would sort U+10000 before U+FFFD. */
function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1;
  }
  return a.length - b.length;
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
