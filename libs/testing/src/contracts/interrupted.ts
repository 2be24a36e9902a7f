import {
  ServiceShutdown,
  type BackgroundWork,
  type OperationKey,
  type OperationState,
  type TaskReporter,
} from '@headgate/domain-contracts';
import { recordingReporter, type RecordingReporter } from './recording-reporter.js';

let count = 0;

/** A key that no operation had before. */
export const freshKey = (more: Partial<OperationKey> = {}): OperationKey => ({
  id: `contract-${process.pid}-${++count}`,
  wasRunning: false,
  ...more,
});

/** An operation as its task sees it after the process was killed. */
export interface Interrupted {
  begin(): Promise<BackgroundWork | undefined>;
  stateOf(): Promise<OperationState>;
  resume(): Promise<BackgroundWork>;
}

/** Carries an operation on as its task does. @returns the state that was found first */
export async function carryOn({ begin, stateOf, resume }: Interrupted): Promise<OperationState['state']> {
  const found = await stateOf();
  if (found.state === 'failed') throw new Error(found.reason);
  if (found.state === 'absent') await (await begin())?.(recordingReporter());
  if (found.state === 'running') await (await resume())(recordingReporter());
  return found.state;
}

/** Runs work in a process that is killed at the moment of its commit: nothing is undone. */
export async function killAtCommit(work: BackgroundWork | undefined): Promise<RecordingReporter> {
  const abort = new AbortController();
  const report = recordingReporter(abort.signal);
  const killed: TaskReporter = {
    ...report,
    commit: async () => {
      abort.abort(new ServiceShutdown('killed'));
      throw abort.signal.reason;
    },
  };
  await work?.(killed).catch((error: unknown) => {
    if (error !== abort.signal.reason) throw error;
  });
  return report;
}
