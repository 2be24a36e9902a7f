import { IsBoolean, IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { IsCountText, IsMap, IsMoment, Nested, Optional } from './fields.js';
import { ContextQuery } from './queries.js';

/** GET /api/ext/changes */
export class ChangesQuery extends ContextQuery {
  /** The first moment, a time of RFC 3339. By default 24 hours before the end. */
  @Optional() @IsMoment() from?: string;
  /** The moment after the last one. By default now. */
  @Optional() @IsMoment() to?: string;
  /** Only the changes of this instance. */
  @Optional() @IsString() @MaxLength(1024) ref?: string;
  /**
   * The maximum number of changes, 1 to 1000; default 100. The header Svc-Cursor leads to the next page, also after a
   * page with fewer changes, or none.
   */
  @Optional() @IsCountText(1, 1000) limit?: string;
  /** The Svc-Cursor of the previous page, requested with the same `from` and `to`. */
  @Optional()
  @Matches(/^[1-9]\d{0,7}-\d{1,15}$/, { message: '$property must be the Svc-Cursor of the previous page.' })
  cursor?: string;
}

export const CHANGE_TYPES = ['added', 'changed', 'removed', 'detached', 'gap'] as const;
export type ChangeType = (typeof CHANGE_TYPES)[number];

export const CHANGE_CAUSES = ['action', 'task', 'context', 'gap', 'outside', 'unknown'] as const;
export type ChangeCause = (typeof CHANGE_CAUSES)[number];

/** Who or what has probably changed an instance. */
export class ChangeCauseView {
  /**
   * `action`: the action that the journal has for the instance, up to 2 minutes before or 15 seconds after. `task`: a
   * task that held the instance. `context`: its context was lost, came back or left. `gap`: unknown, because nothing
   * was recorded then. `outside`: changed outside of Headgate, by its guest or by the backend. `unknown`: added, but
   * created before.
   */
  @IsIn(CHANGE_CAUSES) by!: ChangeCause;
  /** The login of the caller of the action or of the task; empty for a caller without an identity. */
  @Optional() @IsString() caller?: string;
  /** The action in the journal, such as `stop`, or the operation of the task. */
  @Optional() @IsString() action?: string;
  /** When the action was recorded, in ISO 8601. */
  @Optional() @IsString() time?: string;
  /** The ID of the task. */
  @Optional() @IsString() task?: string;
}

/** A change of an entry of the lists, or a time in which nothing was recorded. */
export class ChangeView {
  /** When it was changed, or when a gap has ended, in ISO 8601. */
  @IsString() time!: string;
  /**
   * `added` and `removed`: to and from the list. `detached`: its context left the list. `gap`: nothing was recorded
   * from `since` until `time`.
   */
  @IsIn(CHANGE_TYPES) type!: ChangeType;
  /** Only of a gap: its beginning, in ISO 8601. */
  @Optional() @IsString() since?: string;
  /** The instance; absent for a gap. */
  @Optional() @IsString() ref?: string;
  /** The changed fields of the entry of the list as they were before, without those that it did not have. */
  @Optional() @IsMap(true) before?: object;
  /** The same fields after it. */
  @Optional() @IsMap(true) after?: object;
  /** Whether it happened at an unknown time in the gap before `time`. */
  @Optional() @IsBoolean() inGap?: boolean;
  /** Who or what has probably caused it; absent for a gap. */
  @Optional() @Nested(() => ChangeCauseView) cause?: ChangeCauseView;
}
