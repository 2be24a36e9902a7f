import type { Schedule, ScheduledRun } from '@headgate/domain-contracts';

export const MAX_RUNS = 20;

/** Whether a run has not ended. A schedule has at most one such run. */
export const isActive = ({ status }: ScheduledRun): boolean => status === 'starting' || status === 'running';

export const activeRun = ({ runs }: Schedule): ScheduledRun | undefined => runs.find(isActive);

/** The schedule with a new run, and without the oldest ones that have ended. */
export function withRun(schedule: Schedule, run: ScheduledRun): Schedule {
  const runs = [run, ...schedule.runs];
  while (runs.length > MAX_RUNS) {
    const oldest = runs.findLastIndex((one) => !isActive(one));
    runs.splice(oldest, 1);
  }
  return { ...schedule, runs };
}

/**
 * The schedule with a later state of a run.
 * @param expected the statuses that the run must have now
 * @returns undefined if the run has another status, or is gone
 */
export function withState(
  schedule: Schedule,
  id: string,
  expected: readonly ScheduledRun['status'][],
  state: Partial<ScheduledRun>,
): Schedule | undefined {
  const run = schedule.runs.find((one) => one.id === id);
  if (!run || !expected.includes(run.status)) return undefined;
  return { ...schedule, runs: schedule.runs.map((one) => (one === run ? { ...one, ...state } : one)) };
}
