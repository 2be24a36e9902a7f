import { TASK_KINDS, type TaskKind, type TaskStatus } from '@headgate/domain-contracts';
import { IsArray, IsIn, IsISO8601, IsNumber, IsString, Max, Min } from 'class-validator';
import { BulkTaskView, TaskMemberView } from './bulk.js';
import { Nested, Nullable, Optional } from './fields.js';

export class TaskStepView {
  @IsString() name!: string;
  @IsISO8601() startedAt!: string;
  @Optional() @IsISO8601() finishedAt?: string;
}

/** GET /api/tasks/{id} */
export class TaskView {
  @IsString() id!: string;
  @IsIn(TASK_KINDS) kind!: TaskKind;
  @IsIn(['running', 'done', 'error']) status!: TaskStatus;
  /** Lines separated by newline. */
  @IsString() log!: string;
  /** Empty unless status is `error`. */
  @IsString() error!: string;
  /** Empty for a bulk task. */
  @IsString() ref!: string;
  /** Login of the caller. */
  @IsString() caller!: string;
  @IsISO8601() startedAt!: string;
  @Nullable() @IsISO8601() finishedAt!: string | null;
  /** 0 to 1, or null when it is unknown. */
  @Nullable() @IsNumber() @Min(0) @Max(1) progress!: number | null;
  @IsArray() @Nested(() => TaskStepView, { each: true }) steps!: TaskStepView[];
  /** Only of a bulk task. */
  @Optional() @Nested(() => BulkTaskView) bulk?: BulkTaskView;
  /** The instances of a bulk task, in one task only, not in the list. */
  @Optional() @IsArray() @Nested(() => TaskMemberView, { each: true }) members?: TaskMemberView[];
}
