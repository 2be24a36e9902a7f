import { randomInt } from 'node:crypto';

export const RECOVERY_CODES = 10;
/** Without characters that look alike. */
const DIGITS = '23456789ABCDEFGHJKMNPQRSTVWXYZ';
const GROUPS = 4;
const GROUP_CHARS = 5;

/** New recovery codes such as `7KQ2M-…`, 98 bits each. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: RECOVERY_CODES }, () =>
    Array.from({ length: GROUPS }, () =>
      Array.from({ length: GROUP_CHARS }, () => DIGITS[randomInt(DIGITS.length)]).join(''),
    ).join('-'),
  );

/** A code as it was shown, however it was typed. */
export const readRecoveryCode = (text: string): string =>
  (
    text
      .toUpperCase()
      .replace(/[^0-9A-Z]/g, '')
      .match(/.{1,5}/g) ?? []
  ).join('-');
