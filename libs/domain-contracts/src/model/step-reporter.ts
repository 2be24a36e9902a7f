import type { TaskReporter, WorkOutcome } from './task.js';
import type { StepContext } from './task-definition.js';

/**
 * Reports background work as a step of a task. The steps of the work become lines of the log, and are
 * measured as parts of the step.
 * @param outcome receives what the work has measured
 */
export const reporterOf = (
  {
    log,
    progress,
    signal,
    waitsFor,
    commit,
    part = log,
    isDelayed,
  }: Pick<StepContext, 'log' | 'progress' | 'signal' | 'waitsFor' | 'commit' | 'part' | 'isDelayed'>,
  outcome: (facts: WorkOutcome) => void = () => undefined,
): TaskReporter => ({ step: part, log, progress, signal, waitsFor, commit, outcome, ...(isDelayed && { isDelayed }) });
