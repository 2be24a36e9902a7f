import { ApiError, badRequest, expired } from '../api-error.js';
import type { ObjectKey } from '../kube-object.js';

/** The start of the next page, and the revision that all pages of a list share. */
export interface ContinueToken {
  revision: number;
  after: ObjectKey;
}

const VERSION = 'meta.k8s.io/v1';

/** In a token: the next page has the present objects, which may be inconsistent with the pages before it. */
export const PRESENT_REVISION = -1;

export function encodeContinue({ revision, after }: ContinueToken): string {
  const start = `${after.namespace ?? ''}/${after.name}\u0000`;
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start })).toString('base64url');
}

/** @throws ApiError 400 */
export function decodeContinue(text: string): ContinueToken {
  const { v = '', rv = 0, start = '' } = parse(text);
  if (v !== VERSION) throw refused(`: server does not recognize this encoded version ${String(v)}`);
  if (rv === 0) throw refused(`: incorrect encoded start resourceVersion (version ${VERSION})`);
  if (start === '') throw refused(`: encoded start key empty (version ${VERSION})`);
  const [, namespace = '', name] = /^([^/]*)\/([^/]+)\u0000$/.exec(String(start)) ?? [];
  if (typeof rv !== 'number' || name === undefined) throw refused(`: ${String(start)}`);
  return { revision: rv, after: { ...(namespace && { namespace }), name } };
}

const refused = (why: string) => badRequest(`invalid continue token: continue key is not valid${why}`);

function parse(text: string): { v?: unknown; rv?: unknown; start?: unknown } {
  const illegal = /[^-\w]/.exec(text)?.index ?? (text.length % 4 === 1 ? text.length : undefined);
  if (illegal !== undefined) throw refused(`: illegal base64 data at input byte ${illegal}`);
  const bytes = Buffer.from(text, 'base64url');
  let token: unknown;
  try {
    token = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw refused(`: ${goSyntaxError(bytes)}`);
  }
  if (typeof token === 'object' && token !== null && !Array.isArray(token)) return token;
  const type = Array.isArray(token)
    ? 'array'
    : token === null
      ? 'null'
      : typeof token === 'boolean'
        ? 'bool'
        : typeof token;
  throw refused(`: json: cannot unmarshal ${type} into Go value of type storage.continueToken`);
}

/** Go's JSON parser reads bytes, and names the first one that can't begin a value. */
function goSyntaxError(bytes: Buffer): string {
  const first = bytes.find((byte) => ![0x20, 0x09, 0x0a, 0x0d].includes(byte));
  if (first === undefined || /[[{"\-\dtfn]/.test(String.fromCharCode(first))) return 'unexpected end of JSON input';
  return `invalid character ${goQuoted(first)} looking for beginning of value`;
}

function goQuoted(byte: number): string {
  const character = String.fromCharCode(byte);
  if (character === "'") return "'\\''";
  // Go prints the characters of Latin 1 but the control characters and the soft hyphen.
  const isPrintable = (byte >= 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
  if (isPrintable) return `'${character === '\\' ? '\\\\' : character}'`;
  return byte < 0x80 ? `'\\x${byte.toString(16).padStart(2, '0')}'` : `'\\u${byte.toString(16).padStart(4, '0')}'`;
}

/** 410 with a token for those who accept an inconsistent list. */
export function continueTooOld({ after }: ContinueToken): ApiError {
  const { status } = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  );
  return new ApiError({ ...status, metadata: { continue: encodeContinue({ revision: PRESENT_REVISION, after }) } });
}
