/** `HEADGATE_TEST_FUZZ_SEED` selects other random requests and responses. */
export const FUZZ_SEED = Number(process.env['HEADGATE_TEST_FUZZ_SEED'] ?? 20_261_122);

/** Random whole numbers from 0, less than a limit: Mulberry32. */
export function randomNumbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}
