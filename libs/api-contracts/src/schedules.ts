import {
  MISSED_POLICIES,
  RUN_STATUSES,
  RUN_TRIGGERS,
  SCHEDULED_ACTIONS,
  type MissedPolicy,
  type RunStatus,
  type RunTrigger,
  type ScheduledAction,
} from '@headgate/domain-contracts';
import {
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsISO8601,
  IsObject,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { ScheduledBackupDto } from './backup-rules.js';
import { BulkQuery } from './bulk.js';
import { Nested, Nullable, Optional } from './fields.js';
import { IsGivenName } from './given-name.js';

const MAX_CRON_CHARS = 200;
const MAX_ZONE_CHARS = 60;
const MAX_JITTER_SECONDS = 3600;
const MAX_KEPT = 100;
const MAX_AT_ONCE = 64;
const MAX_PREVIEWED = 20;

/** What a schedule does: an action on the instances that match its query at that time. */
export class ScheduleJobDto {
  /** The action on each instance. */
  @IsIn(SCHEDULED_ACTIONS) action!: ScheduledAction;
  /** Chooses the instances, at the time of each run. */
  @Nested(() => BulkQuery) query!: BulkQuery;
  /** Only with stop: powers the VMs off instead of asking the guests to shut down. */
  @Optional() @IsBoolean() force?: boolean;
  /** The number of instances that are worked on at the same time; 8 by default. */
  @Optional() @IsInt() @Min(1) @Max(MAX_AT_ONCE) atOnce?: number;
  /** Only with start and restart: an instance is done when it runs again, as in a bulk task. */
  @Optional() @IsBoolean() waitReady?: boolean;
  /** No further instance begins after the first failure; the remaining ones are skipped. */
  @Optional() @IsBoolean() stopOnError?: boolean;
  /**
   * Only with snapshot: how many snapshots that this schedule has created remain for each instance. The oldest ones are
   * deleted when a new one is complete. Without it, all remain. Other snapshots are never deleted.
   */
  @Optional() @IsInt() @Min(1) @Max(MAX_KEPT) keep?: number;
  /** Only with backup, which needs it. */
  @Optional() @IsObject() @Nested(() => ScheduledBackupDto) backup?: ScheduledBackupDto;
}

/** POST /api/ext/schedules */
export class CreateScheduleDto {
  /** Unique among the schedules of the caller. */
  @IsGivenName() name!: string;
  /**
   * Five fields: minute, hour, day of month, month, day of week, such as `30 2 * * 1-5`; or a name such as `@daily`.
   */
  @IsString() @MaxLength(MAX_CRON_CHARS) cron!: string;
  /** A name of the IANA database, such as `Europe/Berlin`. */
  @IsString() @MaxLength(MAX_ZONE_CHARS) timeZone!: string;
  /** Whether it runs at its times; true by default. */
  @Optional() @IsBoolean() enabled?: boolean;
  /** Each run begins up to so many seconds later, always as many for one schedule; 0 by default. */
  @Optional() @IsInt() @Min(0) @Max(MAX_JITTER_SECONDS) jitterSeconds?: number;
  /** After an outage of the service: no run for the times that passed, or one for all of them; `skip` by default. */
  @Optional() @IsIn(MISSED_POLICIES) missed?: MissedPolicy;
  /** What it does. */
  @Nested(() => ScheduleJobDto) job!: ScheduleJobDto;
}

/** PATCH /api/ext/schedules/{id}. Absent fields stay as they are. */
export class UpdateScheduleDto {
  /** Unique among the schedules of its owner. */
  @Optional() @IsGivenName() name?: string;
  /** Five fields, or a name such as `@daily`. */
  @Optional() @IsString() @MaxLength(MAX_CRON_CHARS) cron?: string;
  /** A name of the IANA database. */
  @Optional() @IsString() @MaxLength(MAX_ZONE_CHARS) timeZone?: string;
  /** Whether it runs at its times. Those before it is enabled are not made up for. */
  @Optional() @IsBoolean() enabled?: boolean;
  /** Each run begins up to so many seconds later. */
  @Optional() @IsInt() @Min(0) @Max(MAX_JITTER_SECONDS) jitterSeconds?: number;
  /** After an outage of the service: no run for the times that passed, or one for all of them. */
  @Optional() @IsIn(MISSED_POLICIES) missed?: MissedPolicy;
  /** What it does, as a whole. */
  @Optional() @Nested(() => ScheduleJobDto) job?: ScheduleJobDto;
}

/** POST /api/ext/schedules/preview */
export class PreviewScheduleDto {
  /** Five fields, or a name such as `@daily`. */
  @IsString() @MaxLength(MAX_CRON_CHARS) cron!: string;
  /** A name of the IANA database. */
  @IsString() @MaxLength(MAX_ZONE_CHARS) timeZone!: string;
  /** The number of times; 5 by default. */
  @Optional() @IsInt() @Min(1) @Max(MAX_PREVIEWED) count?: number;
}

/** The next planned times of a cron expression. */
export class SchedulePreviewView {
  /** In ISO 8601 and UTC, without jitter. */
  @IsArray() @IsISO8601({}, { each: true }) times!: string[];
}

/** The path of a schedule. */
export class SchedulePath {
  /** Its ID. */
  @Matches(/^[0-9a-f-]{36}$/, { message: '$property must be the ID of a schedule.' }) id!: string;
}

/** One planned time of a schedule, or a run that a user has asked for. */
export class ScheduledRunView {
  /** Its ID. */
  @IsString() id!: string;
  /** The planned time without jitter, or the time of the request, in ISO 8601. */
  @IsISO8601() planned!: string;
  /** `time`: its time had come. `late`: it was missed and is made up for. `request`: a user has asked for it. */
  @IsIn(RUN_TRIGGERS) trigger!: RunTrigger;
  /**
   * `starting` and `running`: it has not ended. `done` and `error`: its task has ended, or could not be started.
   * `empty`: no instance matched. `skipped`: an earlier run had not ended. `missed`: the service did not run then.
   */
  @IsIn(RUN_STATUSES) status!: RunStatus;
  /** The ID of its bulk task, which may not exist yet while it is `starting`. */
  @Optional() @IsString() task?: string;
  /** When it was recorded, in ISO 8601. */
  @IsISO8601() recordedAt!: string;
  /** When its end was seen, in ISO 8601. */
  @Optional() @IsISO8601() endedAt?: string;
  /** Why it did not run, or failed. */
  @Optional() @IsString() reason?: string;
  /** The number of planned times before it that were missed, at most 1000. */
  @Optional() @IsInt() @Min(1) missedBefore?: number;
}

/** A schedule in a list. */
export class ScheduleView {
  /** Its ID. */
  @IsString() id!: string;
  /** The login of the user as whom it runs; empty for a user without an identity. */
  @IsString() owner!: string;
  /** The ID of the API token that has created it, and whose rights its runs have at most. */
  @Optional() @IsString() token?: string;
  /** The user's name for it. */
  @IsString() name!: string;
  /** Whether it runs at its times. */
  @IsBoolean() enabled!: boolean;
  /** Five fields, or a name such as `@daily`. */
  @IsString() cron!: string;
  /** A name of the IANA database. */
  @IsString() timeZone!: string;
  /** Each run begins up to so many seconds later. */
  @IsInt() @Min(0) jitterSeconds!: number;
  /** What happens with times that passed during an outage of the service. */
  @IsIn(MISSED_POLICIES) missed!: MissedPolicy;
  /** What it does. */
  @Nested(() => ScheduleJobDto) job!: ScheduleJobDto;
  /** When it was created, in ISO 8601. */
  @IsISO8601() createdAt!: string;
  /** When it was changed last, in ISO 8601. */
  @IsISO8601() changedAt!: string;
  /** When it runs next, with its jitter, in ISO 8601; null while it is disabled. */
  @Nullable() @IsISO8601() nextRun!: string | null;
  /** The last run; null before the first one. */
  @Nullable() @Nested(() => ScheduledRunView) lastRun!: ScheduledRunView | null;
}

/** A schedule with its last runs. */
export class ScheduleDetailView extends ScheduleView {
  /** The last 20, the newest first. */
  @IsArray() @Nested(() => ScheduledRunView, { each: true }) runs!: ScheduledRunView[];
}
