import { randomInt } from 'node:crypto';

/** Consonants, as RFC 8628 recommends: no digits that look like letters, and no words. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const GROUP_CHARS = 4;

const newGroup = (): string => Array.from({ length: GROUP_CHARS }, () => LETTERS[randomInt(LETTERS.length)]).join('');

/** A new code such as `WDJB-MJHT`, of 34 bits. */
export const newUserCode = (): string => `${newGroup()}-${newGroup()}`;

/** A code as it was shown, however it was typed. */
export const readUserCode = (text: string): string => {
  const letters = text.toUpperCase().replace(/[^A-Z]/g, '');
  return `${letters.slice(0, GROUP_CHARS)}-${letters.slice(GROUP_CHARS)}`;
};
