import { createHash } from 'node:crypto';

const HASH_CHARS = 40;

/**
 * The name of an object for a text that may have any characters and any length: always the same one for the same text.
 */
export const hashedName = (prefix: string, text: string): string =>
  `${prefix}-${createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARS)}`;
