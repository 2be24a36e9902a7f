import type { BulkTask, TaskMember } from './bulk.js';
import type { MeasuredSeconds } from './measured-seconds.js';
import type { Operation } from './operations.js';
import type { Work } from './work.js';

export const TASK_KINDS = [
  'create',
  'migrate',
  'snapshot',
  'restore',
  'clone',
  'import',
  'disk',
  'bulk',
  'move',
  'bootc',
  'plugin',
  'drain',
  'backup',
  'restore-backup',
  'instant-restore',
  'restore-disks',
  'prove-backup',
  'check-backups',
  'clean-backups',
  'prove-backups',
] as const;
export type TaskKind = (typeof TASK_KINDS)[number];
export type TaskStatus = 'running' | 'done' | 'error';

export interface TaskStep {
  readonly name: string;
  readonly startedAt: string;
  readonly finishedAt?: string;
  /** How long past runs of the step took when it began. */
  readonly promised?: MeasuredSeconds;
  /** How long it took, if it was finished without a wait for something that does not belong to it. */
  readonly tookSeconds?: number;
  /** The times of the parts that its log names, for plans. Not for users. */
  readonly parts?: readonly { readonly name: string; readonly tookSeconds: number }[];
}

/** Work of the same values is expected to take about the same time. */
export interface TimedWork {
  readonly operation: Operation;
  /** The context of its instance or image. */
  readonly context: string;
  readonly variant?: string;
}

/** How much of the data of the current step was processed. */
export interface TaskTransfer {
  readonly doneBytes: number;
  /** Null while it is unknown. */
  readonly totalBytes: number | null;
  /** Of the last seconds; null until it can be measured. */
  readonly bytesPerSecond: number | null;
  /** At that speed; null while the speed or the total is unknown. */
  readonly remainingSeconds: number | null;
}

/** A long operation with a log that can be polled. Survives restarts of the service. */
export interface Task {
  /** `<kind>-<name>-<time-sortable id>` */
  readonly id: string;
  readonly kind: TaskKind;
  readonly status: TaskStatus;
  /** Lines separated by newline. Empty in lists of tasks. */
  readonly log: string;
  /** Empty unless status is `error`. */
  readonly error: string;
  /** The ref of its instance or image, as text; empty for a bulk task. */
  readonly ref: string;
  /** Login of the caller. */
  readonly caller: string;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  /** 0 to 1, or null if unknown. */
  readonly progress: number | null;
  readonly steps: readonly TaskStep[];
  /** Only while a step reports bytes. */
  readonly transfer?: TaskTransfer;
  /** Whether the task can be canceled now. */
  readonly cancelable?: boolean;
  /** Login of the caller who canceled it. */
  readonly canceledBy?: string;
  /** Why it does not continue at the moment: it is paused, or its journal can't be written. */
  readonly waiting?: string;
  /** Completes "waits for" while the task runs: "the snapshot before-upgrade to be ready". */
  readonly waitsFor?: string;
  /** One sentence: why it can't be canceled any more. */
  readonly cancelRefusal?: string;
  /** The outcome in numbers and names, such as the downtime of a move. Its fields depend on the kind. */
  readonly result?: object;
  /** What the task reserves until it ends. */
  readonly reserves?: Work;
  /** Absent for a task that is compared with no other, such as a bulk task. */
  readonly timedAs?: TimedWork;
  /** How long such tasks had taken when it was started. */
  readonly promised?: MeasuredSeconds;
  /**
   * How long it took, if it has succeeded in one process and without a wait for something that does not belong to it,
   * such as the end of a pause.
   */
  readonly tookSeconds?: number;
  /** Only for a bulk task. */
  readonly bulk?: BulkTask;
  /** The instances of a bulk task, in their order. Missing in lists of tasks, and in old tasks. */
  readonly members?: readonly TaskMember[];
}

/**
 * The abort reason of background work when the process shuts down. Work that continues elsewhere, such as a cluster's
 * migration, is only no longer followed then; any other abort reason means that the work was canceled.
 */
export class ServiceShutdown extends Error {
  override readonly name = 'ServiceShutdown';
}

/** Numbers about background work that has succeeded. */
export interface WorkOutcome {
  /** How long the guest did not run. */
  readonly downtimeMs?: number;
}

/** Receives the progress of background work. */
export interface TaskReporter {
  /** Begins a step, which finishes the previous one. */
  step(name: string): void;
  log(line: string): void;
  /** 0 to 1. */
  progress(fraction: number): void;
  /** Receives the outcome in numbers once it is known. */
  outcome?(facts: WorkOutcome): void;
  /** @param subject completes "waits for": "the snapshot before-upgrade to be ready" */
  waitsFor?(subject: string): void;
  /** The step waits for something that does not belong to it, such as other work: its time does not count. */
  isDelayed?(): void;
  /**
   * Call it before the first change that can't be undone: from then on, a cancellation is refused.
   * @param reason one sentence
   * @throws the reason of a cancellation that came before
   */
  commit?(reason: string): Promise<void>;
  /** Aborted when the task is canceled or the service shuts down. */
  readonly signal: AbortSignal;
}

/** For work whose progress has no reader, and which can't be canceled. */
export const SILENT_REPORTER: TaskReporter = {
  step: () => undefined,
  log: () => undefined,
  progress: () => undefined,
  signal: new AbortController().signal,
};

/**
 * How long work may make no progress. Bytes, fractions, new lines of the log and other subjects of `waitsFor` are
 * progress.
 */
export interface Patience {
  /** Work that makes no progress for this long is ended, in milliseconds. */
  readonly stallMs: number;
  /** Completes "waits for" until the work reports something closer: "the copy of the disk". */
  readonly waitsFor: string;
  /** One or two sentences for a task that was ended: what may still go on elsewhere, and what its user can do. */
  readonly ifStalled: string;
}

/**
 * The part of an operation that continues after it was accepted. A restart of the service ends it; see TaskDefinition
 * for work that survives one.
 */
export type BackgroundWork = (report: TaskReporter) => Promise<void>;
