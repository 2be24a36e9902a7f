import type { BackupOrder } from './backup-order.js';
import type { Caller } from './caller.js';
import { addSeconds, type MeasuredSeconds } from './measured-seconds.js';
import type { InstanceRef } from '../values/instance-ref.js';

/** The actions that `POST /api/ext/bulk` carries out on each of its instances. */
export const BULK_ACTIONS = [
  'start',
  'stop',
  'restart',
  'pause',
  'unpause',
  'migrate',
  'snapshot',
  'tag',
  'untag',
  'folder',
  'unfolder',
  'delete',
] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

/** Actions that take long, so that each member of the bulk task is a task of its own. */
export const QUEUED_ACTIONS = ['move', 'drain', 'backup'] as const;
export type QueuedAction = (typeof QUEUED_ACTIONS)[number];

/** The actions that schedules carry out on instances. */
export const SCHEDULED_ACTIONS = ['start', 'stop', 'restart', 'snapshot', 'backup'] as const satisfies readonly (
  BulkAction | QueuedAction
)[];
export type ScheduledAction = (typeof SCHEDULED_ACTIONS)[number];

/** All actions of bulk tasks. */
export const BULK_TASK_ACTIONS = [...BULK_ACTIONS, ...QUEUED_ACTIONS] as const;

/** The run of a schedule from which a bulk task comes. */
export interface BulkOrigin {
  /** The ID of the schedule. */
  readonly id: string;
  /** The planned time, in ISO 8601. The names of snapshots contain it. */
  readonly planned: string;
  /** Of `snapshot`: how many snapshots that the schedule has created of an instance remain. All of them without it. */
  readonly keep?: number;
}

/** One action for many instances. */
export interface BulkRequest {
  readonly action: BulkAction | QueuedAction;
  /** `stop` powers the VMs off instead of asking the guests. */
  readonly force?: boolean;
  /** Of `tag` and `untag`. */
  readonly tag?: string;
  /** Of `folder`: the path of the folder that the members are put into. */
  readonly folder?: string;
  /** How many members are worked on at the same time, 1 to 64; 8 by default. Not of queued actions. */
  readonly atOnce?: number;
  /** Of `start` and `restart`: a member is done when it is ready again, and only then the next one begins. */
  readonly waitReady?: boolean;
  /** No further member begins after the first failure. */
  readonly stopOnError?: boolean;
  /** Of `snapshot`: the time in the names, in ISO 8601; by default that of each snapshot. */
  readonly stamp?: string;
  /** No member begins before this time, in ISO 8601 and UTC. */
  readonly at?: string;
  /** The schedule that has started the task. */
  readonly schedule?: BulkOrigin;
  /** Of queued actions: how many members use the same host at the same time. */
  readonly perHost?: number;
  /** Of `move`: the request that holds for every member. JSON. */
  readonly move?: object;
  /** Of `drain`: the node that the members leave. */
  readonly drain?: { readonly context: string; readonly node: string };
  /** Of `backup`. */
  readonly backup?: BackupOrder;
}

/** A request that is one call for each instance. */
export interface DirectBulkRequest extends BulkRequest {
  readonly action: BulkAction;
}

/**
 * `skipped`: it never began, because the task was canceled, another member failed, the service stopped, or there was
 * nothing to do for it.
 */
export const MEMBER_STATUSES = ['waiting', 'running', 'done', 'error', 'skipped'] as const;
export type MemberStatus = (typeof MEMBER_STATUSES)[number];

/** One instance of a bulk task. */
export interface TaskMember {
  readonly ref: string;
  /** The backend's ID of the instance when the task was started, if it existed then. Another one is not touched. */
  readonly uid?: string;
  readonly status: MemberStatus;
  /** Why it failed or was skipped. */
  readonly error?: string;
  /** The task that continues the action, such as a migration. The member of a queue has its own before it begins. */
  readonly task?: string;
}

/** The request of a bulk task, and how many members have each status. */
export interface BulkTask extends BulkRequest {
  readonly counts: Readonly<Record<MemberStatus, number>>;
  /** No further member begins until the task is continued. */
  readonly paused?: boolean;
}

/** A member, which is not another instance of its name. */
export type MemberRef = InstanceRef & Pick<TaskMember, 'uid'>;

/**
 * Carries out the request on one instance.
 * @returns the ID of the task that continues the action, if there is one
 */
export type MemberWork = (request: DirectBulkRequest, ref: MemberRef, caller: Caller) => Promise<string | undefined>;

/** How many members are worked on at the same time by default. More would usually only wait in the backend. */
export const DEFAULT_AT_ONCE = 8;

/**
 * How long a bulk task takes.
 * @param members how long each of its members takes
 * @returns undefined if that is not known of all, or the members are not done when their requests are
 */
export function bulkSeconds(
  { action, force = false, atOnce = DEFAULT_AT_ONCE, waitReady = false }: BulkRequest,
  members: readonly (MeasuredSeconds | undefined)[],
): MeasuredSeconds | undefined {
  const endsLater = END_LATER.has(action) || (action === 'stop' && !force) || waitReady;
  return endsLater ? undefined : addSeconds(members, atOnce);
}

/** Actions that go on when their request is answered. */
const END_LATER: ReadonlySet<BulkRequest['action']> = new Set<BulkRequest['action']>([
  'restart',
  'migrate',
  'snapshot',
  'move',
  'drain',
  'backup',
]);

/** A member of a queue is left out, for a reason that is no failure. Nothing has begun. */
export class MemberSkipped extends Error {
  override readonly name = 'MemberSkipped';
}

/** The work of a queue: each member is carried out by a task of its own, which survives restarts. */
export interface MemberTasks {
  /** The kind of these tasks. */
  readonly kind: QueuedAction;
  /** The hosts that the work on a member uses, at both ends. */
  hostsOf(request: BulkRequest, ref: InstanceRef): readonly string[];
  /**
   * Starts the task of a member.
   * @param task its ID, under which a restart finds it
   * @throws MemberSkipped why the member is left out
   * @throws DomainError why the member is refused; nothing has begun then
   */
  start(
    request: BulkRequest,
    ref: InstanceRef,
    { task, caller }: { readonly task: string; readonly caller: Caller },
  ): Promise<void>;
  /**
   * Called once all members have ended, unless the task was canceled. A process that is killed meanwhile calls it again
   * after its restart. Its error is logged by the task, whose status stays that of the members.
   */
  afterwards?(
    request: BulkRequest,
    members: readonly TaskMember[],
    { caller, log }: { readonly caller: Caller; readonly log: (text: string) => void },
  ): Promise<void>;
}

/** Whether the action was not carried out, so that it can be tried again. */
export const needsRetry = ({ status }: TaskMember): boolean => status === 'error' || status === 'skipped';

export function countMembers(members: Iterable<TaskMember>): Record<MemberStatus, number> {
  const counts = { waiting: 0, running: 0, done: 0, error: 0, skipped: 0 };
  for (const { status } of members) counts[status]++;
  return counts;
}
