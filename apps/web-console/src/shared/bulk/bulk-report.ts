import { t } from '@lingui/core/macro';
import type { BulkTaskView, TaskMemberView, TaskView } from '@headgate/api-contracts';
import { readableNumber } from '../texts/formats.js';

export interface BulkReport {
  readonly failed: readonly TaskMemberView[];
  /** How many failed, or were skipped because the task was canceled or interrupted. */
  readonly unfinished: number;
  /** "2 succeeded, 1 failed, 3 skipped." */
  readonly summary: string;
  /** The summary and a line for each failure, for a ticket. */
  readonly text: string;
}

/** @param refused the number of instances that were not part of the task */
export function bulkReport(label: string, { bulk, members = [] }: TaskView, refused = 0): BulkReport {
  const { done = 0, error = 0, skipped = 0 } = bulk?.counts ?? {};
  const failed = members.filter(({ status }) => status === 'error');
  const summary = t`${count(done)} succeeded, ${count(error)} failed, ${count(skipped + refused)} skipped.`;
  return {
    failed,
    unfinished: error + skipped,
    summary,
    text: [`${label}: ${summary}`, ...failed.map(({ ref, error: reason }) => `${ref}: ${reason}`)].join('\n'),
  };
}

/** How many instances a bulk task has. */
export const memberCount = ({ counts }: BulkTaskView): number =>
  counts.waiting + counts.running + counts.done + counts.error + counts.skipped;

/** "namespace/name" of a ref. */
export const nameOfRef = (ref: string): string => ref.split('/').slice(2).map(decodeURIComponent).join('/');

const count = (number: number): string => readableNumber(number);
