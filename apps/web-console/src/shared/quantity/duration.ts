import type { SecondsView } from '@headgate/api-contracts';

const MINUTE = 60;
const HOUR = 3600;

/** `80 s`, `3 min`, `2.5 h`. Rounded up to whole seconds and minutes. */
export const readableSeconds = (seconds: number): string => inUnits(seconds, Math.ceil);

function inUnits(seconds: number, round: (value: number) => number): string {
  if (seconds < 1.5 * MINUTE) return `${round(seconds)} s`;
  return seconds < 1.5 * HOUR ? `${round(seconds / MINUTE)} min` : `${Number((seconds / HOUR).toFixed(1))} h`;
}

/** `2 to 4 s`; `up to 4 s` if the shortest is almost nothing. */
export function readableRange({ low, high }: Pick<SecondsView, 'low' | 'high'>): string {
  if (high < 1) return 'less than 1 s';
  const most = readableSeconds(high);
  const unit = most.endsWith('h') ? HOUR : most.endsWith('min') ? MINUTE : 1;
  const least = unit === HOUR ? Number((low / HOUR).toFixed(1)) : Math.floor(low / unit);
  if (least === 0) return `up to ${most}`;
  return least === Number.parseFloat(most) ? most : `${least} to ${most}`;
}

/** `2 to 4 s, measured 12 times`. */
export const readableEstimate = (range: SecondsView): string =>
  `${readableRange(range)}, measured ${timesOf(range.measured)}`;

/** `promised 2 to 4 s, took 3 s`, or the part that is known; empty if none is. */
export function readablePromise(promised: SecondsView | undefined, tookSeconds: number | undefined): string {
  const took =
    tookSeconds === undefined ? '' : `took ${tookSeconds < 1 ? 'less than 1 s' : inUnits(tookSeconds, Math.round)}`;
  return [promised ? `promised ${readableRange(promised)}` : '', took].filter(Boolean).join(', ');
}

function timesOf(count: number): string {
  if (count === 1) return 'once';
  return count === 2 ? 'twice' : `${count} times`;
}
