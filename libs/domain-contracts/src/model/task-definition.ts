import type { Author, Caller } from './caller.js';
import type { Patience, TaskKind } from './task.js';
import type { Reservation } from './work.js';

/**
 * A kind of task that consists of named steps in a fixed order. Each step is journaled before it runs, so that the task
 * can be resumed or rolled back after the process was killed. Input, parameters, results and checkpoints are JSON.
 */
export interface TaskDefinition<Input extends object = object> {
  readonly kind: Exclude<TaskKind, 'bulk'>;
  /**
   * Of the input, the steps and their parameters; 1 by default. A journal of another version is neither resumed nor
   * rolled back.
   */
  readonly version?: number;
  /** Returns the same steps for the same input, also after a restart. */
  steps(input: Input): readonly StepDefinition<Input>[];
  /**
   * Decides after a restart how a task continues. It must look at the real state: the interrupted step, which is the
   * last of the journal unless it is finished, may have done nothing, a part or all of its work. While it fails because
   * a backend is unreachable, it is repeated for up to an hour. Without it, the task is rolled back.
   */
  resume?(journal: TaskJournal<Input>, context: TaskContext): Promise<Resumption>;
  /**
   * Undoes the journaled steps when one fails, the task is canceled, or it can't be resumed. It may run again after a
   * restart, so it must accept that a part is already undone. While it fails because a backend is unreachable, it is
   * repeated for up to an hour. Without it, nothing is undone, and the task says which step had begun.
   */
  rollback?(journal: TaskJournal<Input>, context: TaskContext): Promise<void>;
  /** The result of a task whose steps are all finished, if it has one. */
  result?(journal: TaskJournal<Input>): object | undefined;
}

export interface StepDefinition<Input extends object = object> extends Patience {
  /** Unique in its task. */
  readonly name: string;
  /** Whether the task may be canceled while this step runs; false by default. */
  readonly isCancelable?: boolean;
  /**
   * Whether it goes on however often the service is restarted meanwhile, because a guest depends on it; false by
   * default.
   */
  readonly outlivesRestarts?: boolean;
  /** The share of the task's progress compared with other steps; 1 by default. */
  readonly weight?: number;
  /**
   * Computes the parameters, such as the names of the objects that the step will create. They are journaled before the
   * step runs and stay the same when it is repeated. Must not change anything.
   */
  params?(journal: TaskJournal<Input>): object | Promise<object>;
  /** @returns the result of the step for later steps, or nothing */
  run(context: StepContext<Input>): Promise<unknown>;
}

/** `continue`: the interrupted step is repeated. `finished`: it had done its work, with this result. */
export type Resumption =
  | { readonly action: 'continue' }
  | { readonly action: 'finished'; readonly result?: unknown }
  | { readonly action: 'rollback'; readonly reason?: string };

/** What a task has begun. Exists until the task ends. */
export interface TaskJournal<Input extends object = object> {
  /** ID of the task. */
  readonly task: string;
  /** Of the definition that wrote it. */
  readonly version: number;
  readonly caller: Author;
  /**
   * The caller had limited rights. They are not stored, so the task is not continued after a restart, but rolled back.
   */
  readonly isLimited?: boolean;
  readonly input: Input;
  /** In the order in which they began. All but the last are finished. */
  readonly steps: readonly JournaledStep[];
  /** Login of the caller who canceled the task. */
  readonly canceledBy?: string;
  /** The reason of the rollback, once that has begun, and how often it has. */
  readonly rollback?: { readonly error: string; readonly attempts: number };
}

export interface JournaledStep {
  readonly name: string;
  readonly params: object;
  /** How often it has begun. */
  readonly attempts: number;
  readonly isFinished: boolean;
  readonly result?: unknown;
  /** The last saved one. */
  readonly checkpoint?: unknown;
}

/** The reports of a running step, resume or rollback. */
export interface TaskContext {
  /** ID of the task. */
  readonly task: string;
  readonly caller: Caller;
  /**
   * Aborted with a ServiceShutdown when the service stops: then the task continues after the next start. Any other
   * reason means that the task was canceled. The rollback begins when the step has ended.
   */
  readonly signal: AbortSignal;
  /** Appends to the log: control characters are removed, and passwords and tokens masked. */
  log(text: string): void;
  /** Logs the name of a part of the step, which begins now and is measured. */
  part?(name: string): void;
  /** Masks this text in all further lines and errors of the task. */
  mask(secret: string): void;
  /** @param fraction of the step, 0 to 1 */
  progress(fraction: number): void;
  /** Reports the progress of the step as bytes, from which the task estimates the remaining time. */
  bytes(doneBytes: number, totalBytes?: number): void;
  /**
   * @param subject completes "waits for" until the next call or the end of the step: "the snapshot before-upgrade to be
   *   ready"
   */
  waitsFor(subject: string): void;
  /** The step waits for something that does not belong to it, such as the end of an outage: its time does not count. */
  isDelayed?(): void;
}

export interface StepContext<Input extends object = object> extends TaskContext {
  readonly input: Input;
  readonly params: object;
  /** 1, or more when a restart interrupted the step. */
  readonly attempt: number;
  /** The last checkpoint of an earlier attempt. */
  readonly checkpoint: unknown;
  /**
   * Journals how far the step has come, so that a repetition can continue there.
   * @returns whether it is stored; if not, the previous one is still valid
   */
  saveCheckpoint(checkpoint: object): Promise<boolean>;
  /**
   * Call it before the first change that can't be undone: from then on, a cancellation is refused.
   * @param reason one sentence
   * @throws the reason of a cancellation that came before
   */
  commit(reason: string): Promise<void>;
  /** The result of an earlier step. @throws Error when the step is not finished */
  result<T>(step: string): T;
}

/** The subject and the input of a new task. */
export interface TaskStart<Input extends object> {
  /** The ID of the task, if it is known before. */
  readonly id?: string;
  /** The name in the task's ID. */
  readonly name: string;
  /** The ref of the instance, as text; empty if the task has none. */
  readonly ref: string;
  readonly input: Input;
  /** In place of that of the work which the request has reserved. */
  readonly variant?: string;
  /** The task has it until it ends. */
  readonly reservation?: Reservation;
}

/** Starts tasks of a definition. */
export interface DefinedTask<Input extends object> {
  /**
   * Journals the task, starts it and returns its ID without waiting for its steps.
   * @throws when the journal can't be written; nothing has begun then
   */
  start(start: TaskStart<Input>, caller: Caller): Promise<string>;
}
