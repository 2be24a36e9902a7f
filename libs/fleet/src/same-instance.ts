import type { Instance } from '@headgate/domain-contracts';

/** Whether two records of one instance say the same. The key order does not count; refs are equal by then. */
export function sameInstance(a: Instance, b: Instance): boolean {
  const left = a as unknown as Record<string, unknown>;
  const right = b as unknown as Record<string, unknown>;
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (key === 'ref') continue;
    const [x, y] = [left[key], right[key]];
    if (x === y) continue;
    if (!Array.isArray(x) || !Array.isArray(y) || x.length !== y.length) return false;
    if (x.some((value, index) => value !== y[index])) return false;
  }
  return true;
}
