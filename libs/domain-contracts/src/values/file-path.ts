import { DomainError } from './domain-error.js';

const MAX_PATH_CHARS = 32_768;
const MAX_PATH_BYTES = 16_384;
/** What would not show, or would change the text around it, and the sign of the escapes themselves. */
const ESCAPED = /[%\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * A name or a path of a file system as text, which `bytesOfFile` turns into the same bytes again. Names are bytes, and
 * need be neither UTF-8 nor printable: each byte that can't be shown is `%` and two hexadecimal digits, and `%` is
 * `%25`.
 */
export function textOfFile(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at < bytes.length;) {
    const length = charLengthAt(bytes, at);
    const char = length === 0 ? undefined : bytes.toString('utf8', at, at + length);
    const end = at + Math.max(length, 1);
    text += char === undefined || ESCAPED.test(char) ? escaped(bytes.subarray(at, end)) : char;
    at = end;
  }
  return text;
}

/**
 * The bytes of a name or a path that `textOfFile` has returned, or that a person has typed.
 * @throws DomainError INVALID_INPUT for an escape that is not complete, a zero byte, or a path that is too long
 */
export function bytesOfFile(text: string): Buffer {
  const refuse = (reason: string): never => {
    throw new DomainError('INVALID_INPUT', `path: ${reason}`);
  };
  if (text.length > MAX_PATH_CHARS) refuse('it is too long.');
  if (/\p{Cs}/u.test(text)) refuse('use whole characters.');
  const parts = text.split(/(%[0-9A-Fa-f]{2})/);
  const bytes = Buffer.concat(
    parts.map((part, index) => {
      if (index % 2 === 1) return Buffer.from([Number.parseInt(part.slice(1), 16)]);
      if (part.includes('%')) refuse('write % as %25.');
      return Buffer.from(part, 'utf8');
    }),
  );
  if (bytes.includes(0)) refuse('it has a zero byte.');
  if (bytes.length > MAX_PATH_BYTES) refuse('it is too long.');
  const isAbove = bytes
    .toString('latin1')
    .split('/')
    .some((name) => name === '.' || name === '..');
  if (isAbove) refuse('the names . and .. are not allowed.');
  return bytes;
}

/**
 * A path in one form, as `textOfFile` writes it, so that the journal names a file in one way.
 * @param text default: `/`
 * @throws DomainError INVALID_INPUT
 */
export function pathOfFile(text = '/'): string {
  const names = textOfFile(bytesOfFile(text))
    .split('/')
    .filter((name) => name !== '');
  return `/${names.join('/')}`;
}

/** Of the UTF-8 character at a position; 0 if there is none. */
function charLengthAt(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  try {
    strict.decode(bytes.subarray(at, at + length));
    return length;
  } catch {
    return 0;
  }
}

const escaped = (bytes: Buffer): string =>
  [...bytes].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
