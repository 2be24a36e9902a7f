import {
  BULK_ACTIONS,
  BULK_TASK_ACTIONS,
  INSTANCE_KINDS,
  MEMBER_STATUSES,
  type BulkAction,
  type InstanceKind,
  type MemberStatus,
  type QueuedAction,
} from '@headgate/domain-contracts';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsISO8601,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { PlanView } from './answers.js';
import { ScheduledBackupDto } from './backup-rules.js';
import { IsContextName, IsFolderPath, IsMap, IsTag, Nested, Optional } from './fields.js';
import { MAX_QUERY_CHARS } from './queries.js';

/** The most instances of one bulk task. */
export const MAX_BULK_MEMBERS = 10_000;
const MAX_MEMBERS_AT_ONCE = 64;
const MAX_REF_CHARS = 400;

/** Chooses the instances of a list; at least one of q, context and folder must be set. */
export class BulkQuery {
  /** `vm` by default. */
  @Optional() @IsIn(INSTANCE_KINDS) kind?: InstanceKind;
  /** A query as in the list, such as `web status:stopped`. */
  @Optional() @IsString() @MaxLength(MAX_QUERY_CHARS) q?: string;
  /** Only instances of this context. */
  @Optional() @IsContextName() context?: string;
  /** Only instances in this folder and in the folders in it. */
  @Optional() @IsFolderPath() folder?: string;
}

/** A list of refs that is not empty. */
export const AreRefs =
  (maxCount: number): PropertyDecorator =>
  (target, property) => {
    const rules = [IsArray(), ArrayMinSize(1), ArrayMaxSize(maxCount)];
    const ofEach = [IsString({ each: true }), MaxLength(MAX_REF_CHARS, { each: true })];
    // The order in which decorators of a property are applied.
    for (const rule of [...rules, ...ofEach].reverse()) rule(target, property);
  };

/** POST /api/ext/bulk. Exactly one of refs and query must be set. */
export class BulkDto {
  /** The action on each instance. */
  @IsIn(BULK_ACTIONS) action!: BulkAction;
  /** The refs of the instances, at most 10,000. */
  @Optional() @AreRefs(MAX_BULK_MEMBERS) refs?: string[];
  /** Chooses the instances that match at this moment. */
  @Optional() @Nested(() => BulkQuery) query?: BulkQuery;
  /** Only with stop: powers the VMs off instead of asking the guests to shut down. */
  @Optional() @IsBoolean() force?: boolean;
  /** Only with tag and untag. */
  @Optional() @IsTag() tag?: string;
  /** Only with folder: the path of an existing folder, which each instance is put into. */
  @Optional() @IsFolderPath() folder?: string;
  /** The number of instances that are worked on at the same time; 8 by default. */
  @Optional() @IsInt() @Min(1) @Max(MAX_MEMBERS_AT_ONCE) atOnce?: number;
  /**
   * Only with start and restart: an instance is done when it runs again, with its guest agent connected if it was
   * before, and only then the next one begins. It fails if that takes longer than 10 minutes. A restart of which
   * nothing can be seen for a minute counts as done.
   */
  @Optional() @IsBoolean() waitReady?: boolean;
  /** No further instance begins after the first failure; the remaining ones are skipped. */
  @Optional() @IsBoolean() stopOnError?: boolean;
  /**
   * The task waits until this time, at most 366 days: ISO 8601 with `Z` or an offset. It can be canceled meanwhile.
   * Only for callers with all rights, because the rights of others are not stored until then.
   */
  @Optional() @IsString() @MaxLength(40) at?: string;
}

/** The plan of one instance of a bulk task: the one that a dry run of a single request returns. */
export class BulkMemberPlanView extends PlanView {
  /** The ref of the instance. */
  @IsString() ref!: string;
  /** Whether there is no refusal. */
  @IsBoolean() ok!: boolean;
}

/**
 * The response to a dry run of POST /api/ext/bulk. `steps` has one step for each instance that is not refused. The
 * request is accepted although some or all instances are refused: their members fail when their turn comes.
 */
export class BulkPlanView extends PlanView {
  /** False when every instance is refused. `refusals` has the distinct reasons then, at most 100, and is empty else. */
  @IsBoolean() ok!: boolean;
  /** The plans of the instances, in their order. */
  @IsArray() @Nested(() => BulkMemberPlanView, { each: true }) members!: BulkMemberPlanView[];
  /**
   * The number of instances that are not in `members`, because planning takes at most 10 seconds. Their steps are those
   * of instances without a refusal.
   */
  @IsInt() @Min(0) unplanned!: number;
}

/** One instance of a bulk task. */
export class TaskMemberView {
  /** The ref of the instance. */
  @IsString() ref!: string;
  /**
   * The backend's ID of the instance when the task was started. The member fails if another one has its name by then.
   */
  @Optional() @IsString() uid?: string;
  /**
   * `skipped`: it never began, because the task was canceled, another member failed or the service stopped, or there
   * was nothing to do for it, such as the backup of a VM that is being backed up already.
   */
  @IsIn(MEMBER_STATUSES) status!: MemberStatus;
  /** Why it failed or was skipped. */
  @Optional() @IsString() error?: string;
  /** The task that continues the action, such as a migration. */
  @Optional() @IsString() task?: string;
}

/** How many members of a bulk task have each status. */
export class BulkCountsView {
  /** The number of members that have not begun. */
  @IsInt() @Min(0) waiting!: number;
  /** The number of members that are being worked on. */
  @IsInt() @Min(0) running!: number;
  /** The number of members that succeeded. */
  @IsInt() @Min(0) done!: number;
  /** The number of members that failed. */
  @IsInt() @Min(0) error!: number;
  /** The number of members that never began. */
  @IsInt() @Min(0) skipped!: number;
}

/** The node of a drain. */
export class DrainedNodeView {
  /** Its context. */
  @IsString() context!: string;
  /** Its name. */
  @IsString() node!: string;
}

/** The backups of a bulk task. */
export class BulkBackupView extends ScheduledBackupDto {
  /** The time zone whose days and hours count for `keep`. */
  @Optional() @IsString() timeZone?: string;
}

/** The run of a schedule from which a bulk task comes. */
export class BulkOriginView {
  /** The ID of the schedule. */
  @IsString() id!: string;
  /** The planned time, or that of the request to run it now, in ISO 8601. */
  @IsISO8601() planned!: string;
  /** Of snapshot: how many snapshots of the schedule remain for each instance; all of them if it is absent. */
  @Optional() @IsInt() @Min(1) keep?: number;
}

/** The order of a bulk task. */
export class BulkTaskView {
  /** The action on each member. */
  @IsIn(BULK_TASK_ACTIONS) action!: BulkAction | QueuedAction;
  /** Of stop: whether the VMs are powered off instead of being shut down. */
  @Optional() @IsBoolean() force?: boolean;
  /** Of tag and untag: the tag. */
  @Optional() @IsString() tag?: string;
  /** Of folder: the path of the folder. */
  @Optional() @IsString() folder?: string;
  /** The number of members that are worked on at the same time; 8 if it is absent. */
  @Optional() @IsInt() @Min(1) atOnce?: number;
  /** Whether a member is done only when it is ready again. */
  @Optional() @IsBoolean() waitReady?: boolean;
  /** Whether no further member begins after the first failure. */
  @Optional() @IsBoolean() stopOnError?: boolean;
  /** No member begins before this time, in ISO 8601. */
  @Optional() @IsISO8601() at?: string;
  /** The schedule that has started the task. */
  @Optional() @Nested(() => BulkOriginView) schedule?: BulkOriginView;
  /** Of move, drain and backup: the number of members that use the same host at the same time. */
  @Optional() @IsInt() @Min(1) perHost?: number;
  /** Of move: the request that holds for every member. */
  @Optional() @IsMap(true) move?: object;
  /** Of drain: the node that the members leave. */
  @Optional() @Nested(() => DrainedNodeView) drain?: DrainedNodeView;
  /** Of backup: where to, and which backups remain. */
  @Optional() @Nested(() => BulkBackupView) backup?: BulkBackupView;
  /** No further member begins until the task is continued. */
  @Optional() @IsBoolean() paused?: boolean;
  /** How many members have each status. */
  @Nested(() => BulkCountsView) counts!: BulkCountsView;
}
