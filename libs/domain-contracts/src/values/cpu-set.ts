import { DomainError } from './domain-error.js';

/** Linux numbers at most this many CPUs. A larger number is a mistake, and would only cost memory. */
const MAX_CPU_ID = 8191;
const MAX_TEXT_LENGTH = 1024;
const RANGE = /^([0-9]{1,5})(?:-([0-9]{1,5}))?$/;

/**
 * The numbers of a list such as `0-3,8`, sorted and without duplicates. NUMA nodes have the same notation.
 * @throws DomainError INVALID_INPUT, naming the field, for any other text, a range that ends before it begins, or a
 *   number that no
 * machine has
 */
export function parseCpuSet(text: string, field: string): number[] {
  const found = new Set<number>();
  for (const part of text.length > MAX_TEXT_LENGTH ? [''] : text.split(',')) {
    const match = RANGE.exec(part);
    const first = Number(match?.[1]);
    const last = Number(match?.[2] ?? match?.[1]);
    if (!match || last < first || last > MAX_CPU_ID) {
      throw new DomainError(
        'INVALID_INPUT',
        `${field}: ${JSON.stringify(text.slice(0, 40))} is not a list of numbers and ranges from 0 to ${MAX_CPU_ID}; use one such as 0-3,8.`,
      );
    }
    for (let number = first; number <= last; number++) found.add(number);
  }
  return [...found].sort((a, b) => a - b);
}

export function isCpuSet(text: string): boolean {
  try {
    parseCpuSet(text, '');
    return true;
  } catch {
    return false;
  }
}

/** The shortest notation: `0-3,8`. Empty for no numbers. */
export function formatCpuSet(numbers: Iterable<number>): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const ranges: [first: number, last: number][] = [];
  for (const number of sorted) {
    const range = ranges.at(-1);
    if (range && range[1] === number - 1) range[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}
