import { randomBytes } from 'node:crypto';

const DEGREE = 53n;
const X = 2n;

/**
 * A random irreducible polynomial of degree 53 over GF(2), in hexadecimal. restic cuts files with it; it is also part
 * of repositories whose other writers have blocks of a fixed size.
 */
export function randomPolynomial(): string {
  for (;;) {
    const random = BigInt(`0x${randomBytes(7).toString('hex')}`) & ((1n << DEGREE) - 1n);
    const candidate = random | (1n << DEGREE) | 1n;
    if (isIrreducible(candidate)) return candidate.toString(16);
  }
}

/**
 * The test of Rabin for a prime degree: x^(2^53) = x modulo the polynomial, which has neither 0 nor 1 as a root.
 * The degree of the polynomial has to be 53.
 */
export function isIrreducible(polynomial: bigint): boolean {
  const terms = [...polynomial.toString(2)].filter((bit) => bit === '1').length;
  if ((polynomial & 1n) === 0n || terms % 2 === 0) return false;
  let power = X;
  for (let step = 0n; step < DEGREE; step++) power = squareModulo(power, polynomial);
  return power === X;
}

function squareModulo(value: bigint, modulus: bigint): bigint {
  let square = 0n;
  for (let bit = 0n; value >> bit !== 0n; bit++) if ((value >> bit) & 1n) square |= 1n << (2n * bit);
  for (let bit = 2n * DEGREE; bit >= DEGREE; bit--) if ((square >> bit) & 1n) square ^= modulus << (bit - DEGREE);
  return square;
}
