import type { FleetEntry } from '../fleet/sorted-entries.js';
import type { MemberResult } from './run-for-all.js';

export interface BulkReport<E> {
  readonly failed: readonly MemberResult<E>[];
  /** "2 succeeded, 1 failed, 3 skipped." */
  readonly summary: string;
  /** The summary and a line for each failure, for a ticket. */
  readonly text: string;
}

/** @param skipped the number of instances that were not tried */
export function bulkReport<E extends FleetEntry>(
  label: string,
  results: readonly MemberResult<E>[],
  skipped: number,
): BulkReport<E> {
  const failed = results.filter(({ error }) => error !== undefined);
  const summary = `${count(results.length - failed.length)} succeeded, ${count(failed.length)} failed, ${count(skipped)} skipped.`;
  return {
    failed,
    summary,
    text: [`${label}: ${summary}`, ...failed.map(({ entry, error }) => `${entry.ref}: ${error}`)].join('\n'),
  };
}

const count = (number: number): string => number.toLocaleString('en');
