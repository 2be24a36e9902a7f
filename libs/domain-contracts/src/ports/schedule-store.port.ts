import { OwnedStore, type OwnedObject } from './owned-store.port.js';

/** What happens to planned times that passed while the service did not run: nothing, or one run for all of them. */
export const MISSED_POLICIES = ['skip', 'once'] as const;
export type MissedPolicy = (typeof MISSED_POLICIES)[number];

/** `time`: its time has come. `late`: it was missed, and is made up for. `request`: a user has asked for it. */
export const RUN_TRIGGERS = ['time', 'late', 'request'] as const;
export type RunTrigger = (typeof RUN_TRIGGERS)[number];

/**
 * - `starting`: it was recorded, and its task is about to be started.
 * - `running`: its task runs.
 * - `done`, `error`: its task has ended, or could not be started.
 * - `empty`: no instance matched.
 * - `skipped`: an earlier run had not ended.
 * - `missed`: the service did not run at that time.
 */
export const RUN_STATUSES = ['starting', 'running', 'done', 'error', 'empty', 'skipped', 'missed'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** One planned time of a schedule, or a run that a user has asked for. */
export interface ScheduledRun {
  readonly id: string;
  /** The planned time without jitter, or the time of the request. ISO 8601. */
  readonly planned: string;
  readonly trigger: RunTrigger;
  readonly status: RunStatus;
  /** The ID of its task, chosen before the task exists. */
  readonly task?: string;
  /** The replica that starts it. */
  readonly replica?: string;
  /** ISO 8601. */
  readonly recordedAt: string;
  /** ISO 8601; absent while it is active. */
  readonly endedAt?: string;
  /** Why it did not run, or failed. */
  readonly reason?: string;
  /** The number of planned times before it that were not run because the service did not run, at most 1000. */
  readonly missedBefore?: number;
}

/** What a schedule does. */
export interface ScheduledJob {
  /** The kind of job that carries it out, such as `bulk`. */
  readonly kind: string;
  /** JSON. */
  readonly params: object;
}

/** A job of a user at planned times, and its last runs. */
export interface Schedule extends OwnedObject {
  /** The API token that has created it: its runs never have more rights than the token. */
  readonly token?: string;
  /** Unique among those of the owner. */
  readonly name: string;
  readonly enabled: boolean;
  /** Five fields, or a name such as `@daily`. */
  readonly cron: string;
  /** Of the IANA database. */
  readonly timeZone: string;
  /** Each run begins up to so many seconds after its planned time. */
  readonly jitterSeconds: number;
  readonly missed: MissedPolicy;
  readonly job: ScheduledJob;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly changedAt: string;
  /** The planned time that was considered last. Earlier ones are never run. ISO 8601. */
  readonly after: string;
  /** The last 20, the newest first. */
  readonly runs: readonly ScheduledRun[];
}

/** Stores the schedules of users, by name. */
export abstract class ScheduleStore extends OwnedStore<Schedule> {
  /** Those of all owners. */
  abstract all(): readonly Schedule[];

  /**
   * Changes the latest version of a schedule; no other write comes between.
   * @param change returns undefined to leave it as it is. It may be called again with a version that has its change
   *   already
   * @returns the schedule; undefined if there is none
   */
  abstract change(
    owner: string,
    id: string,
    change: (stored: Schedule) => Schedule | undefined,
  ): Promise<Schedule | undefined>;
}

/** The order of `ScheduleStore.of`. */
export const byScheduleName = (a: Schedule, b: Schedule): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1;
