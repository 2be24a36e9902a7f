export const TASK_KINDS = ['create', 'migrate'] as const;
export type TaskKind = (typeof TASK_KINDS)[number];
export type TaskStatus = 'running' | 'done' | 'error';

export interface TaskStep {
  readonly name: string;
  readonly startedAt: string;
  readonly finishedAt?: string;
}

/** Long work with a log that can be polled. Kept over restarts of the service. */
export interface Task {
  /** `<kind>-<name>-<time-sortable id>` */
  readonly id: string;
  readonly kind: TaskKind;
  readonly status: TaskStatus;
  /** Lines separated by newline. */
  readonly log: string;
  /** Empty unless status is `error`. */
  readonly error: string;
  /** The instance that it works on, as text. */
  readonly ref: string;
  /** Login of who asked. */
  readonly caller: string;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  /** 0 to 1, or null when it can't be told. */
  readonly progress: number | null;
  readonly steps: readonly TaskStep[];
}

/**
 * Why the signal of long work is aborted when the process ends. Work that somebody else goes on with, such as a cluster's
 * migration, is then only no longer followed; any other abort means that somebody cancelled it.
 */
export class ServiceShutdown extends Error {
  override readonly name = 'ServiceShutdown';
}

/** What long work tells while it runs. */
export interface TaskReporter {
  /** Begins a step; the one before is finished. Journaled before it returns. */
  step(name: string): void;
  log(line: string): void;
  /** 0 to 1. */
  progress(fraction: number): void;
  /** Aborted when somebody cancels the task or the service ends. */
  readonly signal: AbortSignal;
}

/** The part of an operation that goes on after it was accepted. */
export type BackgroundWork = (report: TaskReporter) => Promise<void>;
