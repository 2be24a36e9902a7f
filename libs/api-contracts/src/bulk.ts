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
import { ArrayMaxSize, ArrayMinSize, IsArray, IsBoolean, IsIn, IsInt, IsString, MaxLength, Min } from 'class-validator';
import { IsContextName, IsFolderPath, IsMap, IsTag, Nested, Optional } from './fields.js';

/** The most instances of one bulk task. */
export const MAX_BULK_MEMBERS = 10_000;
const MAX_REF_CHARS = 400;

/** Chooses the instances of a list; at least one of q, context and folder must be set. */
export class BulkQuery {
  /** `vm` by default. */
  @Optional() @IsIn(INSTANCE_KINDS) kind?: InstanceKind;
  /** Words that must all occur in the entry of the instance, as in the list. */
  @Optional() @IsString() @MaxLength(256) q?: string;
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
}

/** One instance of a bulk task. */
export class TaskMemberView {
  /** The ref of the instance. */
  @IsString() ref!: string;
  /** `skipped`: it never began, because the task was canceled or the service stopped. */
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
  /** The number of members that never began, because the task was canceled or the service stopped. */
  @IsInt() @Min(0) skipped!: number;
}

/** The order of a bulk task. */
export class BulkTaskView {
  /** The action on each member. */
  @IsIn(BULK_TASK_ACTIONS) action!: BulkAction | QueuedAction;
  /** Of stop: whether the VMs are powered off instead of being shut down. */
  @Optional() @IsBoolean() force?: boolean;
  /** Of tag and untag: the tag. */
  @Optional() @IsString() tag?: string;
  /** Of move: the number of members that use the same host at the same time. */
  @Optional() @IsInt() @Min(1) perHost?: number;
  /** Of move: the request that holds for every member. */
  @Optional() @IsMap(true) move?: object;
  /** No further member begins until the task is continued. */
  @Optional() @IsBoolean() paused?: boolean;
  /** How many members have each status. */
  @Nested(() => BulkCountsView) counts!: BulkCountsView;
}
