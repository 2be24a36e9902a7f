import { DomainError, messageOf, type Clock, type Patience, type TaskReporter } from '@headgate/domain-contracts';
import type { RunDeps, RunningTask } from './running-task.js';

/** How long work may take to stop after it was ended. */
const GRACE_MS = 30_000;
const MINUTE_MS = 60_000;

/** Work that reported no progress for too long, and was ended. */
export class Stalled extends DomainError {
  constructor(
    message: string,
    readonly patience: Patience,
    /** Whether the work has stopped, so that it can be rolled back. */
    readonly hasStopped: boolean,
  ) {
    super('BACKEND_TIMEOUT', message);
  }
}

export interface Watched {
  readonly task: RunningTask;
  readonly clock: Clock;
  /** The name of the step; absent for work that names its steps itself. */
  readonly name?: string;
  readonly patience: Patience;
}

/** Receives what the work reports: a value that differs from the last one of its sort is progress. */
export type Observe = (sort: string, value: unknown) => void;

/**
 * Runs work, and ends it when it makes no progress for too long: it is aborted, and given up if it does not stop.
 * @throws Stalled
 */
export async function watch<T>(watched: Watched, work: (observe: Observe) => Promise<T>): Promise<T> {
  const { task, clock, patience } = watched;
  const { stallMs } = patience;
  const stalled = Promise.withResolvers<undefined>();
  const seen = new Map<string, unknown>();
  let lastMs = clock.now();
  let cancel = (): void => undefined;
  const arm = (ms: number): void => {
    cancel = clock.after(ms, () => {
      const leftMs = lastMs + stallMs - clock.now();
      if (leftMs > 0) arm(leftMs);
      else stalled.resolve(undefined);
    });
  };
  const observe: Observe = (sort, value) => {
    if (seen.get(sort) === value) return;
    seen.set(sort, value);
    lastMs = clock.now();
  };
  // The journal has all that the next start needs.
  const onShutdown = (): void => cancel();
  arm(stallMs);
  task.shutdownSignal.addEventListener('abort', onShutdown);
  try {
    const outcome = Promise.resolve()
      .then(() => work(observe))
      .then(
        (result) => ({ result }),
        (error: unknown) => ({ error }),
      );
    const first = await Promise.race([outcome, stalled.promise]);
    if (first) return resultOf(first);
    const { waitsFor = patience.waitsFor } = task.summary;
    const name = watched.name ?? task.summary.steps.at(-1)?.name ?? task.summary.kind;
    const message = `"${name}" reported no progress for ${durationOf(stallMs)} while it waited for ${waitsFor}.`;
    task.log(message);
    task.cancel(new Stalled(message, patience, true));
    const grace = Promise.withResolvers<undefined>();
    cancel = clock.after(GRACE_MS, () => grace.resolve(undefined));
    const last = await Promise.race([outcome, grace.promise]);
    if (last && 'result' in last) return last.result;
    throw new Stalled(last ? message : `${message} It did not stop.`, patience, last !== undefined);
  } finally {
    cancel();
    task.shutdownSignal.removeEventListener('abort', onShutdown);
  }
}

/**
 * The error of a task that was ended: the finished steps, the state of its instance, and what may still go on.
 * @param finished names of steps
 * @param more about the rollback
 */
export function explainStalled(
  { message, patience, hasStopped }: Stalled,
  { ref, finished, more = '' }: { readonly ref: string; readonly finished: readonly string[]; readonly more?: string },
  { describe }: Pick<RunDeps, 'describe'>,
): string {
  const names = finished.map((name) => `"${name}"`).join(', ');
  const parts = [
    message,
    names && `Finished before: ${names}.`,
    hasStopped ? '' : 'Nothing was undone.',
    more,
    describeSafely(describe, ref),
    patience.ifStalled,
  ];
  return parts.filter(Boolean).join(' ');
}

function resultOf<T>(outcome: { readonly result: T } | { readonly error: unknown }): T {
  if ('error' in outcome) throw outcome.error;
  return outcome.result;
}

function describeSafely(describe: RunDeps['describe'], ref: string): string {
  try {
    return describe?.(ref) ?? '';
  } catch (error) {
    return messageOf(error);
  }
}

/** Passes the reports of work without a journal on, and observes them. */
export const observed = (task: RunningTask, observe: Observe): TaskReporter => ({
  signal: task.signal,
  step: (name) => {
    observe('step', name);
    task.step(name);
  },
  log: (line) => {
    observe('log', line);
    task.log(line);
  },
  progress: (fraction) => {
    observe('progress', fraction);
    task.progress(fraction);
  },
  waitsFor: (subject) => {
    observe('waitsFor', subject);
    task.update({ waitsFor: subject });
  },
  isDelayed: () => task.delay(),
  commit: async (reason) => {
    task.signal.throwIfAborted();
    task.update({ cancelable: false, cancelRefusal: reason });
  },
});

const durationOf = (ms: number): string =>
  ms < 2 * MINUTE_MS ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / MINUTE_MS)} min`;
