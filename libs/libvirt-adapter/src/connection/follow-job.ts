import type { Clock, TaskReporter } from '@headgate/domain-contracts';
import type { JobOperations } from './job-operations.js';

const JOB_INTERVAL_MS = 250;

export interface FollowJobDeps {
  readonly jobs: JobOperations;
  readonly clock: Pick<Clock, 'delay'>;
}

/**
 * Reports the progress of the job of a domain, and ends the job when the task is canceled, until the returned function
 * is called.
 */
export function followJob(
  uuid: string,
  report: Pick<TaskReporter, 'signal' | 'progress'>,
  { jobs, clock }: FollowJobDeps,
): () => Promise<void> {
  let isDone = false;
  const abort = (): void => void jobs.abort(uuid).catch(() => undefined);
  const poll = async (): Promise<void> => {
    let best = 0;
    while (!isDone) {
      const job = await jobs.current(uuid).catch(() => undefined);
      const fraction = job?.fraction ?? 0;
      // The guest changes memory that was copied already, so that the figure may fall.
      if (fraction > best && !isDone) report.progress((best = fraction));
      // The job may have begun after an earlier attempt.
      if (report.signal.aborted && job) abort();
      await clock.delay(JOB_INTERVAL_MS);
    }
  };
  const polling = poll();
  return async () => {
    isDone = true;
    await polling;
  };
}

/** Ends the job of a domain, and waits until it has ended. */
export async function endJob(uuid: string, { jobs, clock }: FollowJobDeps): Promise<void> {
  while (await jobs.current(uuid)) {
    await jobs.abort(uuid);
    await clock.delay(JOB_INTERVAL_MS);
  }
}
