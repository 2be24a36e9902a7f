import { TASK_KINDS, type TaskKind, type TaskStatus } from '@headgate/domain-contracts';
import { IsArray, IsBoolean, IsIn, IsInt, IsISO8601, IsNumber, IsString, Max, MaxLength, Min } from 'class-validator';
import { SecondsView } from './answers.js';
import { BulkTaskView, TaskMemberView } from './bulk.js';
import { IsMap, Nested, Nullable, Optional } from './fields.js';

/** A step of a task. */
export class TaskStepView {
  /** The name of the step. */
  @IsString() name!: string;
  /** When it began, in ISO 8601. */
  @IsISO8601() startedAt!: string;
  /** When it ended, in ISO 8601; absent while it runs. */
  @Optional() @IsISO8601() finishedAt?: string;
  /** How long past runs of the step had taken when it began; absent if it was never measured. */
  @Optional() @Nested(() => SecondsView) promised?: SecondsView;
  /** How many seconds it took; absent while it runs, and if it also waited for something else. */
  @Optional() @IsNumber() @Min(0) tookSeconds?: number;
}

/** How much of the data of the current step was processed. */
export class TaskTransferView {
  /** The number of bytes that were processed. */
  @IsInt() @Min(0) doneBytes!: number;
  /** The number of bytes in all; null while it is unknown. */
  @Nullable() @IsInt() @Min(0) totalBytes!: number | null;
  /** Bytes per second, of the last seconds; null until it can be measured. */
  @Nullable() @IsInt() @Min(0) bytesPerSecond!: number | null;
  /** The remaining time in seconds, at that speed; null while the speed or the total is unknown. */
  @Nullable() @IsInt() @Min(0) remainingSeconds!: number | null;
}

/** GET /api/tasks/{id} */
export class TaskQuery {
  /** Continues an event stream: the ID of the last event, for clients that can't set the header Last-Event-ID. */
  @Optional() @IsString() @MaxLength(64) lastEventId?: string;
}

/** GET /api/tasks/{id} */
export class TaskView {
  /** The ID of the task, such as `migrate-web-1-…`. */
  @IsString() id!: string;
  /** The kind of work. */
  @IsIn(TASK_KINDS) kind!: TaskKind;
  /** Whether it still runs, has succeeded or has failed. */
  @IsIn(['running', 'done', 'error']) status!: TaskStatus;
  /** Lines separated by newline; empty in the list of tasks. The first line says how many older ones were cut. */
  @IsString() log!: string;
  /** Empty unless status is `error`. */
  @IsString() error!: string;
  /** Empty for a bulk task. */
  @IsString() ref!: string;
  /** Login of the caller. */
  @IsString() caller!: string;
  /** When it was started, in ISO 8601. */
  @IsISO8601() startedAt!: string;
  /** When it ended, in ISO 8601; null while it runs. */
  @Nullable() @IsISO8601() finishedAt!: string | null;
  /** The completed part, a number from 0 to 1; null when it is unknown. */
  @Nullable() @IsNumber() @Min(0) @Max(1) progress!: number | null;
  /** The steps that have begun. */
  @IsArray() @Nested(() => TaskStepView, { each: true }) steps!: TaskStepView[];
  /** Only while a step reports bytes. */
  @Optional() @Nested(() => TaskTransferView) transfer?: TaskTransferView;
  /** Whether DELETE would cancel the task now. */
  @Optional() @IsBoolean() cancelable?: boolean;
  /** Login of the caller who canceled it. */
  @Optional() @IsString() canceledBy?: string;
  /** Why it does not continue at the moment: it is paused, or its journal can't be written. */
  @Optional() @IsString() waiting?: string;
  /** Completes "waits for" while the task runs: "the snapshot before-upgrade to be ready". */
  @Optional() @IsString() waitsFor?: string;
  /** Why it can't be canceled any more. */
  @Optional() @IsString() cancelRefusal?: string;
  /** The outcome in numbers and names, such as the downtime of a move. Its fields depend on the kind. */
  @Optional() @IsMap(true) result?: object;
  /** How long past tasks of its kind had taken when it was started; absent if none was measured. */
  @Optional() @Nested(() => SecondsView) promised?: SecondsView;
  /**
   * How many seconds it took; only of a task that has succeeded, without a restart, a pause or an outage of its
   * backend.
   */
  @Optional() @IsNumber() @Min(0) tookSeconds?: number;
  /** Only of a bulk task. */
  @Optional() @Nested(() => BulkTaskView) bulk?: BulkTaskView;
  /** The instances of a bulk task, in one task only, not in the list. */
  @Optional() @IsArray() @Nested(() => TaskMemberView, { each: true }) members?: TaskMemberView[];
}

/** The events of GET /api/tasks/{id} as an event stream, and their data. */
export interface TaskStreamEvents {
  /** The whole task. `logOffset` is the offset after its log, in UTF-16 code units since the log began. */
  readonly snapshot: TaskView & { readonly logOffset: number };
  /** The task without its log and its members. */
  readonly changed: Omit<TaskView, 'log' | 'members'>;
  /**
   * New lines, each with a newline. If `offset` is larger than the end of the last text, lines between them were cut.
   */
  readonly log: { readonly offset: number; readonly text: string };
  /** The members of a bulk task that changed. */
  readonly members: readonly TaskMemberView[];
}
