import { IsArray, IsIn, IsInt, IsString, Min } from 'class-validator';
import { Nested, Optional } from './fields.js';
import { HISTORY_RANGES, type HistoryRange } from './metrics.js';

/** The query of GET /api/ext/journal/activity. */
export class ActivityQuery {
  /** How far back the actions are counted. `24h` by default. */
  @Optional() @IsIn(HISTORY_RANGES) range?: HistoryRange;
}

/** The number of actions in one span of time. */
export class ActivityCountView {
  /** When the span began, in milliseconds since the epoch. */
  @IsInt() t!: number;
  /** The number of actions of users that succeeded. */
  @IsInt() @Min(0) users!: number;
  /** The number of actions with an API token that succeeded. */
  @IsInt() @Min(0) tokens!: number;
  /** The number of actions that failed. */
  @IsInt() @Min(0) failed!: number;
}

/** GET /api/ext/journal/activity */
export class ActivityView {
  /** How far back the actions are counted. */
  @IsIn(HISTORY_RANGES) range!: HistoryRange;
  /** When the first span begins, in milliseconds since the epoch. */
  @IsInt() from!: number;
  /** When the last span ends, which may not be over yet, in milliseconds since the epoch. */
  @IsInt() to!: number;
  /** The length of a span in milliseconds. */
  @IsInt() @Min(1) stepMs!: number;
  /** Oldest first. Spans without an action are left out. */
  @IsArray() @Nested(() => ActivityCountView, { each: true }) counts!: ActivityCountView[];
}

/** The number of entries of one caller, or of one of their API tokens. */
export class CallerCountView {
  /** The login; empty for a caller without an identity. */
  @IsString() caller!: string;
  /** The ID of the API token, or empty. */
  @IsString() token!: string;
  /** The number of entries. */
  @IsInt() @Min(1) entries!: number;
}

/** GET /api/ext/journal/summary */
export class JournalSummaryView {
  /** The number of entries. */
  @IsInt() @Min(0) entries!: number;
  /** The number of actions that failed. */
  @IsInt() @Min(0) failed!: number;
  /** The number of requests that were denied. */
  @IsInt() @Min(0) denied!: number;
  /** The number of different objects, such as instances and folders. */
  @IsInt() @Min(0) objects!: number;
  /** The 20 callers with the most entries, those with the most first. */
  @IsArray() @Nested(() => CallerCountView, { each: true }) callers!: CallerCountView[];
}
