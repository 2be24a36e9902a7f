import type { FleetEntry } from '../fleet/sorted-entries.js';
import type { MemberResult } from './run-for-all.js';

export interface BulkReport<E> {
  readonly failed: readonly MemberResult<E>[];
  /** «2 done, 1 failed, 3 left alone.» */
  readonly summary: string;
  /** For a ticket: a line for each that failed. */
  readonly text: string;
}

/** @param left how many were not even tried */
export function bulkReport<E extends FleetEntry>(
  label: string,
  results: readonly MemberResult<E>[],
  left: number,
): BulkReport<E> {
  const failed = results.filter(({ error }) => error !== undefined);
  const summary = `${count(results.length - failed.length)} done, ${count(failed.length)} failed, ${count(left)} left alone.`;
  return {
    failed,
    summary,
    text: [`${label}: ${summary}`, ...failed.map(({ entry, error }) => `${entry.ref}: ${error}`)].join('\n'),
  };
}

const count = (number: number): string => number.toLocaleString('en');
