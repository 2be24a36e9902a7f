import { readableDecimal } from '../texts/formats.js';
import { t, plural } from '@lingui/core/macro';
import type { SecondsView } from '@headgate/api-contracts';

const MINUTE = 60;
const HOUR = 3600;

/** `80 s`, `3 min`, `2.5 h`. Rounded up to whole seconds and minutes. */
export const readableSeconds = (seconds: number): string => inUnits(seconds, Math.ceil);

function inUnits(seconds: number, round: (value: number) => number): string {
  const [value, unit] = scaled(seconds, round);
  return `${readableDecimal(value)} ${unit}`;
}

function scaled(seconds: number, round: (value: number) => number): [value: number, unit: 's' | 'min' | 'h'] {
  if (seconds < 1.5 * MINUTE) return [round(seconds), 's'];
  return seconds < 1.5 * HOUR ? [round(seconds / MINUTE), 'min'] : [Number((seconds / HOUR).toFixed(1)), 'h'];
}

/** `2 to 4 s`; `up to 4 s` if the shortest is almost nothing. */
export function readableRange({ low, high }: Pick<SecondsView, 'low' | 'high'>): string {
  if (high < 1) return t`less than 1 s`;
  const most = readableSeconds(high);
  const [value, name] = scaled(high, Math.ceil);
  const unit = name === 'h' ? HOUR : name === 'min' ? MINUTE : 1;
  const least = unit === HOUR ? Number((low / HOUR).toFixed(1)) : Math.floor(low / unit);
  if (least === 0) return t`up to ${most}`;
  return least === value ? most : t`${readableDecimal(least)} to ${most}`;
}

/** `2 to 4 s, measured 12 times`. */
export function readableEstimate(range: SecondsView): string {
  const { measured } = range;
  return t`${readableRange(range)}, ${plural(measured, { 1: 'measured once', 2: 'measured twice', one: 'measured # time', other: 'measured # times' })}`;
}

/** `promised 2 to 4 s, took 3 s`, or the part that is known; empty if none is. */
export function readablePromise(promised: SecondsView | undefined, tookSeconds: number | undefined): string {
  const took = tookSeconds === undefined ? '' : tookSeconds < 1 ? t`less than 1 s` : inUnits(tookSeconds, Math.round);
  const range = promised ? readableRange(promised) : '';
  if (range !== '' && took !== '') return t`promised ${range}, took ${took}`;
  if (range !== '') return t`promised ${range}`;
  return took === '' ? '' : t`took ${took}`;
}
