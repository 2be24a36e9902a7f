import { expect } from '@jest/globals';

/**
 * Jest compares buffers byte by byte, with a call for each: 12 s for a few megabytes. Two buffers are
 * compared as a whole here, anything else is left to Jest.
 * @param {unknown} one
 * @param {unknown} other
 * @returns {boolean | undefined} undefined for other values
 */
export function equalBytes(one, other) {
  if (!Buffer.isBuffer(one) || !Buffer.isBuffer(other)) return undefined;
  return one.equals(other);
}

expect.addEqualityTesters([equalBytes]);
