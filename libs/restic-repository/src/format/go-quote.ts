/** restic stores names as strings of Go, without the quotes, so that they can have any bytes. */
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

const CHARACTERS = new Map(Object.entries(ESCAPES).map(([character, escape]) => [escape.slice(1), character]));

const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, '0');

export const quoteName = (name: string): string =>
  name.replace(/[\\"\x00-\x1f\x7f]/g, (character) => ESCAPES[character] ?? `\\x${hex(character)}`);

/** Undefined for a name that is not quoted correctly. Bytes that are not UTF-8 become U+FFFD. */
export function unquoteName(quoted: string): string | undefined {
  if (!quoted.includes('\\')) return quoted.includes('"') ? undefined : quoted;
  const parts: Buffer[] = [];
  const token = /\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[0-7]{3}|.)|[^\\"]+/giuy;
  while (token.lastIndex < quoted.length) {
    const match = token.exec(quoted);
    if (match === null) return undefined;
    const part = match[1] === undefined ? Buffer.from(match[0]) : bytesOfEscape(match[1]);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function bytesOfEscape(escape: string): Buffer | undefined {
  const character = CHARACTERS.get(escape);
  if (character !== undefined) return Buffer.from(character);
  if (/^x..$/.test(escape)) return Buffer.from(escape.slice(1), 'hex');
  if (/^[0-7]{3}$/.test(escape)) {
    const byte = Number.parseInt(escape, 8);
    return byte > 255 ? undefined : Buffer.from([byte]);
  }
  if (!/^u.{4}$|^U.{8}$/.test(escape)) return undefined;
  const point = Number.parseInt(escape.slice(1), 16);
  return point > 0x10ffff ? undefined : Buffer.from(String.fromCodePoint(point));
}
