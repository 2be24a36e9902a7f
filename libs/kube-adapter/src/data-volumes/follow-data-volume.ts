import { conditionOf } from '../api/kube-object.js';
import type { Clock, DomainError, TaskReporter } from '@headgate/domain-contracts';
import type { DataVolumeObject } from '../api/object-types.js';
import { DATA_VOLUMES } from '../api/resources.js';
import { importProblem, progressOf, waitsForFirstStart } from './data-volume-facts.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';

export interface FollowedDataVolume {
  readonly namespace: string;
  readonly name: string;
  /** Absent while the DataVolume may not exist yet. */
  readonly uid?: string;
  /** The subject of the log's sentences, such as `The disk web-root`. */
  readonly subject: string;
  /** Whether someone will use the disk soon: then one that waits for its first consumer is still to be filled. */
  readonly start: boolean;
  readonly report: TaskReporter;
  readonly signal: AbortSignal;
  readonly deadline: ImportDeadline;
  failed(reason: string): DomainError;
  /** Called at each change of a DataVolume that waits for the upload of its file. */
  readonly onUploadReady?: () => void;
}

/** CDI retries an address that does not answer forever; after this many restarts the import counts as failed. */
const MAX_RESTARTS = 3;
/** How long a problem such as an exceeded quota may last before the import counts as failed. */
const PROBLEM_LIMIT_MS = 30_000;
/** How long an import may wait for its volume or its importer without any explanation. */
const START_LIMIT_MS = 300_000;

const BEGUN_PHASES = /InProgress$|^(Succeeded|UploadReady)$/;

/** Follows a DataVolume until it is filled, or waits for the first start of its VM. */
export async function followDataVolume(deps: WatchDeps, followed: FollowedDataVolume): Promise<void> {
  const { namespace, name, uid, subject, start, report, signal, deadline, failed } = followed;
  const onChange = (dataVolume: DataVolumeObject): boolean => {
    const { phase = '', restartCount = 0, conditions } = dataVolume.status ?? {};
    const progress = progressOf(dataVolume);
    if (progress !== null) report.progress(progress);
    const problem = importProblem(dataVolume);
    if (problem !== undefined && (phase === 'Failed' || restartCount >= MAX_RESTARTS)) throw failed(problem);
    if (problem !== undefined && deadline.problemOf(name) !== problem) {
      report.log(`${subject} can't be filled at the moment: ${problem}`);
    }
    deadline.setProblem(name, problem);
    if (BEGUN_PHASES.test(phase)) deadline.setBegun(name);
    else deadline.setWaiting(name, conditionOf(conditions, 'Bound')?.message ?? (phase || 'CDI has not begun'));
    if (waitsForFirstStart(dataVolume) && !start) {
      report.log(`${subject} will be filled when the VM is started for the first time.`);
      return true;
    }
    if (phase === 'UploadReady') followed.onUploadReady?.();
    if (phase === 'Succeeded') report.log(`${subject} is ready.`);
    return phase === 'Succeeded';
  };
  const onRemoved = (): boolean => {
    throw failed(`the DataVolume ${name} was deleted`);
  };
  const object = { metadata: { namespace, name, uid } };
  await followObject<DataVolumeObject>({ ...deps, resource: DATA_VOLUMES, object, signal, onChange, onRemoved });
  deadline.setBegun(name);
  deadline.setProblem(name, undefined);
}

/** Ends an import that has a problem, or does not begin, for too long. */
export class ImportDeadline {
  private readonly problems = new Map<string, { readonly text: string; readonly cancel: () => void }>();
  private readonly waiting: Map<string, string>;
  private readonly cancelStart: () => void;

  /** @param onExpired receives the reason */
  constructor(
    private readonly clock: Clock,
    dataVolumes: readonly string[],
    private readonly onExpired: (reason: string) => void,
  ) {
    this.waiting = new Map(dataVolumes.map((name) => [name, `KubeVirt has not created the DataVolume ${name}`]));
    this.cancelStart = clock.after(START_LIMIT_MS, () => {
      const [reason] = this.waiting.values();
      if (reason !== undefined) onExpired(`it has not begun after ${START_LIMIT_MS / 60_000} minutes: ${reason}`);
    });
  }

  problemOf(source: string): string | undefined {
    return this.problems.get(source)?.text;
  }

  /** @param source the name of a DataVolume, or empty for the VM */
  setProblem(source: string, text: string | undefined): void {
    const known = this.problems.get(source);
    if (text === undefined) {
      known?.cancel();
      this.problems.delete(source);
    } else {
      const expire = (): void => this.onExpired(this.problemOf(source) ?? text);
      this.problems.set(source, { text, cancel: known?.cancel ?? this.clock.after(PROBLEM_LIMIT_MS, expire) });
    }
  }

  setWaiting(name: string, reason: string): void {
    this.waiting.set(name, reason);
  }

  setBegun(name: string): void {
    this.waiting.delete(name);
  }

  cancel(): void {
    this.cancelStart();
    for (const { cancel } of this.problems.values()) cancel();
  }
}
