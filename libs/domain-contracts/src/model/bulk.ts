import type { Caller } from '../values/caller.js';
import type { InstanceRef } from '../values/instance-ref.js';

/** The actions that a bulk task can carry out on each of its instances. */
export const BULK_ACTIONS = [
  'start',
  'stop',
  'restart',
  'pause',
  'unpause',
  'migrate',
  'tag',
  'untag',
  'delete',
] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

/** One action for many instances. */
export interface BulkOrder {
  readonly action: BulkAction;
  /** `stop` powers the VMs off instead of asking the guests. */
  readonly force?: boolean;
  /** Of `tag` and `untag`. */
  readonly tag?: string;
}

/** `skipped`: it never began, because the task was canceled or the service stopped. */
export const MEMBER_STATUSES = ['waiting', 'running', 'done', 'error', 'skipped'] as const;
export type MemberStatus = (typeof MEMBER_STATUSES)[number];

/** One instance of a bulk task. */
export interface TaskMember {
  readonly ref: string;
  readonly status: MemberStatus;
  /** Why it failed or was skipped. */
  readonly error?: string;
  /** The task that continues the action, such as a migration. */
  readonly task?: string;
}

/** The order of a bulk task, and how many members have each status. */
export interface BulkTask extends BulkOrder {
  readonly counts: Readonly<Record<MemberStatus, number>>;
  /** No further member begins until the task is continued. */
  readonly paused?: boolean;
}

/**
 * Carries out the order on one instance.
 * @returns the ID of the task that continues the action, if there is one
 */
export type MemberWork = (order: BulkOrder, ref: InstanceRef, caller: Caller) => Promise<string | undefined>;

/** Whether the action was not carried out, so that it can be tried again. */
export const needsRetry = ({ status }: TaskMember): boolean => status === 'error' || status === 'skipped';

export function countMembers(members: Iterable<TaskMember>): Record<MemberStatus, number> {
  const counts = { waiting: 0, running: 0, done: 0, error: 0, skipped: 0 };
  for (const { status } of members) counts[status]++;
  return counts;
}
