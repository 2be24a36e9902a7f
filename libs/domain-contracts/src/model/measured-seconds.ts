/** How long past runs of something took. Absent where no run was measured: nothing is guessed. */
export interface MeasuredSeconds {
  /** In seconds, rounded down to a tenth. */
  readonly low: number;
  /** In seconds, rounded up to a tenth. */
  readonly high: number;
  /** The number of past runs that the range comes from, at least 1. */
  readonly measured: number;
}

/**
 * How long several pieces of work take together.
 * @param atOnce how many of them are carried out at the same time
 * @returns undefined if one of them was never measured, or there are none
 */
export function addSeconds(parts: readonly (MeasuredSeconds | undefined)[], atOnce = 1): MeasuredSeconds | undefined {
  const known = parts.filter((part) => part !== undefined);
  if (known.length === 0 || known.length < parts.length) return undefined;
  const together = (ends: readonly number[]): number => {
    const sum = ends.reduce((all, end) => all + end, 0);
    // The longest one can not be divided.
    return Math.max(
      sum / atOnce,
      ends.reduce((longest, end) => Math.max(longest, end), 0),
    );
  };
  // The last one may begin only when all others have ended.
  const longest = known.reduce((most, { high }) => Math.max(most, high), 0);
  const latest = together(known.map(({ high }) => high)) + (atOnce > 1 && known.length > atOnce ? longest : 0);
  return {
    low: downToTenth(together(known.map(({ low }) => low))),
    high: upToTenth(latest),
    measured: known.reduce((least, { measured }) => Math.min(least, measured), Infinity),
  };
}

/** Rounding errors of sums must not cross a tenth. */
const DUST = 1e-6;
export const downToTenth = (seconds: number): number => Math.floor(seconds * 10 + DUST) / 10;
export const upToTenth = (seconds: number): number => Math.ceil(seconds * 10 - DUST) / 10;
