/** A number of 16 bits for a value that is not known. */
const UNKNOWN = 0xffff;
const EXACT = 1024;
const MAX_VALUE = 2 ** 62;

/**
 * A number from 0 in 16 bits, as a floating-point number with 10 bits of mantissa. Integers up to 2048 and sizes such
 * as 6 GiB are exact; any other number is off by at most 0.05%. NaN is an unknown value.
 */
export function toCompact(value: number): number {
  if (!(value >= 0)) return UNKNOWN;
  if (value < EXACT) return Math.round(value);
  const bounded = Math.min(value, MAX_VALUE);
  const exponent = Math.floor(Math.log2(bounded)) - 10;
  // A mantissa that is rounded up to 2048 continues in the next exponent.
  return (exponent + 1) * EXACT + Math.round(bounded / 2 ** exponent) - EXACT;
}

export function fromCompact(code: number): number {
  if (code === UNKNOWN) return NaN;
  if (code < EXACT) return code;
  return (EXACT + (code % EXACT)) * 2 ** (Math.floor(code / EXACT) - 1);
}
