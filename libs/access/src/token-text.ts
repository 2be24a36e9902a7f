import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Begins every API token, so that scanners for leaked secrets recognize it. */
export const TOKEN_PREFIX = 'hgt_';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_CHARS = 10;
/** 190 bits. */
const SECRET_CHARS = 32;
const CHECKSUM_CHARS = 6;
const PATTERN = new RegExp(`^${TOKEN_PREFIX}[0-9A-Za-z]{${ID_CHARS + SECRET_CHARS + CHECKSUM_CHARS}}$`);

/** A token and its ID. `hgt_`, the ID, the secret, and a checksum by which a scanner recognizes it. */
export interface TokenText {
  readonly id: string;
  readonly text: string;
}

/** @param id of the token that gets a new secret; a new one by default */
export function newToken(id = randomText(ID_CHARS)): TokenText {
  const body = `${TOKEN_PREFIX}${id}${randomText(SECRET_CHARS)}`;
  return { id, text: body + checksumOf(body) };
}

/** The ID in a token; undefined for a text that is none, whose checksum is wrong. */
export function tokenId(text: string): string | undefined {
  if (!PATTERN.test(text)) return undefined;
  const body = text.slice(0, -CHECKSUM_CHARS);
  if (checksumOf(body) !== text.slice(-CHECKSUM_CHARS)) return undefined;
  return text.slice(TOKEN_PREFIX.length, TOKEN_PREFIX.length + ID_CHARS);
}

/** A fast hash is enough: unlike a password, the secret can't be guessed. */
export const hashToken = (text: string): string => createHash('sha256').update(text).digest('hex');

/** CRC-32 in base 62, as in the tokens of other services. */
function checksumOf(body: string): string {
  let value = crc32(body);
  let text = '';
  for (let index = 0; index < CHECKSUM_CHARS; index++) {
    text = DIGITS[value % DIGITS.length] + text;
    value = Math.floor(value / DIGITS.length);
  }
  return text;
}

const randomText = (length: number): string => Array.from({ length }, () => DIGITS[randomInt(DIGITS.length)]).join('');
