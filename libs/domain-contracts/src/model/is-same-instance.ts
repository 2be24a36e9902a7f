import type { Instance } from './instance.js';

/**
 * Whether two records of one instance are equal: most writes of an engine change nothing that is shown. The order of
 * keys does not matter; the refs are known to be equal.
 */
export function isSameInstance(a: Instance, b: Instance): boolean {
  const left = a as unknown as Record<string, unknown>;
  const right = b as unknown as Record<string, unknown>;
  const same = (key: string): boolean => key === 'ref' || sameValue(left[key], right[key]);
  return Object.keys(left).every(same) && Object.keys(right).every(same);
}

const sameValue = (x: unknown, y: unknown): boolean =>
  x === y ||
  (Array.isArray(x) && Array.isArray(y) && x.length === y.length && x.every((value, index) => value === y[index]));
