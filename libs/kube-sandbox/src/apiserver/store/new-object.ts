import { randomInt, randomUUID } from 'node:crypto';

const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** The maximum length of a generated name without its suffix, which fills it up to 63 characters. */
const MAX_BASE_LENGTH = 58;

export function generateName(base: string): string {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return base.slice(0, MAX_BASE_LENGTH) + suffix;
}

export function newUid(): string {
  return randomUUID();
}
