import type { TaskReporter, WorkOutcome } from './task.js';
import type { StepContext } from './task-definition.js';

/**
 * Reports background work as a step of a task. The steps of the work become lines of the log.
 * @param outcome receives what the work has measured
 */
export const reporterOf = (
  { log, progress, signal, waitsFor, commit }: Pick<StepContext, 'log' | 'progress' | 'signal' | 'waitsFor' | 'commit'>,
  outcome: (facts: WorkOutcome) => void = () => undefined,
): TaskReporter => ({ step: log, log, progress, signal, waitsFor, commit, outcome });
