import { messageOf, type BackgroundWork } from '@headgate/domain-contracts';
import type { RunOutcome } from './journaled-kind.js';
import { CANCELABLE_KINDS, PATIENCE, type UnjournaledKind } from './patience.js';
import type { RunDeps, RunningTask } from './running-task.js';
import { explainStalled, observed, Stalled, watch } from './watchdog.js';

/** Whether work of this kind leaves everything as it was when it is canceled, although it has no journal. */
export const isCancelable = (kind: UnjournaledKind): boolean => CANCELABLE_KINDS.has(kind);

/** Carries out work that has no journal, and ends with the process. */
export async function runUnjournaled(
  task: RunningTask,
  kind: UnjournaledKind,
  work: BackgroundWork,
  deps: RunDeps,
): Promise<RunOutcome> {
  try {
    await watch({ task, clock: deps.clock, patience: PATIENCE[kind] }, (observe) => work(observed(task, observe)));
    await task.whenStepped();
  } catch (error) {
    await task.end(explain(task, error, deps));
    return 'ended';
  }
  await task.end();
  return 'ended';
}

function explain(task: RunningTask, error: unknown, deps: RunDeps): string {
  const reason: unknown = task.signal.aborted ? task.signal.reason : error;
  if (!(reason instanceof Stalled)) return messageOf(reason);
  const finished = task.summary.steps.slice(0, -1).map(({ name }) => name);
  return explainStalled(error instanceof Stalled ? error : reason, { ref: task.ref, finished }, deps);
}
