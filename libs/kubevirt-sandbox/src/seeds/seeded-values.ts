/**
 * 128 bits that depend on a text, as four numbers (cyrb128). Not for secrets; much faster than a cryptographic hash.
 */
function digest(text: string): [number, number, number, number] {
  let [a, b, c, d] = [1779033703, 3144134277, 1013904242, 2773480762];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = b ^ Math.imul(a ^ code, 597399067);
    b = c ^ Math.imul(b ^ code, 2869860233);
    c = d ^ Math.imul(c ^ code, 951274213);
    d = a ^ Math.imul(d ^ code, 2716044179);
  }
  a = Math.imul(c ^ (a >>> 18), 597399067);
  b = Math.imul(d ^ (b >>> 22), 2869860233);
  c = Math.imul(a ^ (c >>> 17), 951274213);
  d = Math.imul(b ^ (d >>> 19), 2716044179);
  a ^= b ^ c ^ d;
  return [a >>> 0, (b ^ a) >>> 0, (c ^ a) >>> 0, (d ^ a) >>> 0];
}

const BYTES = Array.from({ length: 256 }, (_none, byte) => byte.toString(16).padStart(2, '0'));

/** Eight digits. `toString(16)` is ten times as slow for numbers above 2³¹. */
const hex = (number: number): string =>
  BYTES[number >>> 24]! + BYTES[(number >>> 16) & 255]! + BYTES[(number >>> 8) & 255]! + BYTES[number & 255]!;

/** A uid derived from its use, in the form of a version 4 UUID. */
export function seededUid(seed: string): string {
  const [a, b, c, d] = digest(seed);
  const [second, third] = [hex(b), hex(c)];
  return `${hex(a)}-${second.slice(0, 4)}-4${second.slice(5)}-a${third.slice(1, 4)}-${third.slice(4)}${hex(d)}`;
}

/** A number from 0 to `limit` (exclusive) that depends on the seed. */
export const seededNumber = (seed: string, limit: number): number => digest(seed)[0] % limit;

export const seededChoice = <T>(seed: string, choices: readonly T[]): T => choices[seededNumber(seed, choices.length)]!;

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;

/** The random suffix of generated names: five characters that Kubernetes uses. */
export function seededSuffix(seed: string): string {
  let number = digest(seed)[0];
  let suffix = '';
  for (let index = 0; index < SUFFIX_LENGTH; index++) {
    suffix += SUFFIX_ALPHABET[number % SUFFIX_ALPHABET.length];
    number = Math.floor(number / SUFFIX_ALPHABET.length);
  }
  return suffix;
}
