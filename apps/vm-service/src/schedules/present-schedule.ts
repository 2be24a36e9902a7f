import type { ScheduleDetailView, ScheduledRunView, ScheduleView } from '@headgate/api-contracts';
import { DomainError, type Schedule, type ScheduledRun } from '@headgate/domain-contracts';
import type { Scheduler } from '@headgate/schedules';
import { paramsOf } from './job-params.js';

type Next = Pick<Scheduler, 'nextRun'>;

export const presentRun = ({ replica: _replica, ...run }: ScheduledRun): ScheduledRunView => run;

export function presentSchedule(schedule: Schedule, scheduler: Next): ScheduleView {
  const { runs, after: _after, job, ...fields } = schedule;
  const [last] = runs;
  return {
    ...fields,
    job: paramsOf(job),
    nextRun: nextRun(schedule, scheduler),
    lastRun: last ? presentRun(last) : null,
  };
}

export const presentDetail = (schedule: Schedule, scheduler: Next): ScheduleDetailView => ({
  ...presentSchedule(schedule, scheduler),
  runs: schedule.runs.map(presentRun),
});

/** A schedule of a newer release may have a time zone that this one does not know. */
function nextRun(schedule: Schedule, scheduler: Next): string | null {
  try {
    return scheduler.nextRun(schedule) ?? null;
  } catch (error) {
    if (DomainError.is(error, 'INVALID_INPUT')) return null;
    throw error;
  }
}
