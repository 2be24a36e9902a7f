import { endJob, followJob } from './follow-job.js';
import { JobOperations, type DomainJob, type EndedJob } from './job-operations.js';

const UUID = '2c749204-8322-4dfd-b324-cb2e556e0e9a';

/** A job whose progress has the given values, one for each question; it ends when they are used up. */
class FakeJobs extends JobOperations {
  aborts = 0;
  constructor(private readonly fractions: (number | null)[]) {
    super();
  }
  override async current(): Promise<DomainJob | undefined> {
    const fraction = this.fractions.shift();
    return fraction === undefined ? undefined : { fraction };
  }
  override async last(): Promise<EndedJob | undefined> {
    return undefined;
  }
  override async abort(): Promise<void> {
    this.aborts++;
  }
}

/** Its methods need their object, like those of a task. */
class Report {
  readonly reported: number[] = [];
  constructor(readonly signal = new AbortController().signal) {}
  progress(fraction: number): void {
    this.reported.push(fraction);
  }
}

/** Resolves `ended` after the given number of delays. */
function countedClock(rounds: number) {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { ended, delay: async () => void (--rounds === 0 && end()) };
}

describe('followJob', () => {
  test('reports progress that only grows', async () => {
    const report = new Report();
    const clock = countedClock(5);
    const stop = followJob(UUID, report, { jobs: new FakeJobs([0.2, 0.1, null, 0.6]), clock });
    await clock.ended;
    await stop();
    expect(report.reported).toEqual([0.2, 0.6]);
  });

  test('ends a job that begins after the task was canceled, and asks for nothing while there is none', async () => {
    const jobs = new FakeJobs([0.1]);
    const clock = countedClock(3);
    const stop = followJob(UUID, new Report(AbortSignal.abort()), { jobs, clock });
    await clock.ended;
    await stop();
    expect(jobs.aborts).toBe(1);
  });

  test('endJob asks until the job has ended', async () => {
    const jobs = new FakeJobs([null, null]);
    await endJob(UUID, { jobs, clock: countedClock(2) });
    expect(jobs.aborts).toBe(2);
  });
});
