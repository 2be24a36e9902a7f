/** The polynomial of CRC-32 with its bits reversed. Source: RFC 1952, section 8. */
const POLYNOMIAL = 0xedb88320;

/** Multiplies two polynomials modulo the polynomial of CRC-32. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= b;
    b = b & 1 ? (b >>> 1) ^ POLYNOMIAL : b >>> 1;
  }
  return product >>> 0;
}

/** x to the power of 8 · 2ⁿ for each n: the shift of 2ⁿ bytes. */
const SHIFTS: readonly number[] = Array.from({ length: 40 }).reduce<number[]>((shifts) => {
  const last = shifts.at(-1);
  return [...shifts, last === undefined ? 0x00800000 : multiply(last, last)];
}, []);

/** The CRC-32 of two texts one after the other, from the CRC-32 of each and the length of the second in bytes. */
export function crc32Combine(first: number, second: number, secondLength: number): number {
  let shift = 0x80000000;
  for (let n = 0, length = secondLength; length > 0; n++, length = Math.floor(length / 2))
    if (length % 2 === 1) shift = multiply(SHIFTS[n]!, shift);
  return (multiply(shift, first) ^ second) >>> 0;
}
