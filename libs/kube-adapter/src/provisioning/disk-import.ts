import { DomainError, type BackgroundWork, type Clock, type InstanceRef } from '@headgate/domain-contracts';
import { conditionOf, type KubeObject } from '../api/kube-object.js';
import type { DataVolumeObject, VmObject } from '../api/object-types.js';
import { DATA_VOLUMES, VIRTUAL_MACHINES } from '../api/resources.js';
import { importProblem, waitsForFirstStart } from '../inventory/data-volume-facts.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';

export interface DiskImport {
  readonly ref: InstanceRef;
  readonly vm: KubeObject;
  /** Names of the DataVolumes that KubeVirt creates for the VM. */
  readonly dataVolumes: readonly string[];
  /** Whether the VM is being started: then a disk that waits for its first consumer is still to be filled. */
  readonly start: boolean;
}

/** CDI retries an address that does not answer forever; after this many restarts the import counts as failed. */
const MAX_RESTARTS = 3;
/** How long a problem such as an exceeded quota may last before the import counts as failed. */
const PROBLEM_LIMIT_MS = 30_000;
/** How long an import may wait for its volume or its importer without any explanation. */
const START_LIMIT_MS = 300_000;

const BEGUN_PHASES = /InProgress$|^(Succeeded|UploadReady)$/;

/**
 * Follows the import of a new VM's disks to its end. A failed import leaves the VM: its reason shows the problem, and CDI
 * may still succeed when the problem is solved.
 */
export function followImport(deps: WatchDeps, { ref, vm, dataVolumes, start }: DiskImport): BackgroundWork {
  return async (report) => {
    report.step('import');
    const stop = new AbortController();
    const signal = AbortSignal.any([report.signal, stop.signal]);
    const deadline = new ImportDeadline(deps.clock, dataVolumes, (reason) => stop.abort(importFailed(ref, reason)));

    const fill = async (name: string): Promise<void> => {
      const onChange = (dataVolume: DataVolumeObject): boolean => {
        const { phase = '', progress = '', restartCount = 0, conditions } = dataVolume.status ?? {};
        const percent = /^(\d+(?:\.\d+)?)%$/.exec(progress)?.[1];
        if (percent !== undefined) report.progress(Math.min(1, Number(percent) / 100));
        const problem = importProblem(dataVolume);
        if (problem !== undefined && (phase === 'Failed' || restartCount >= MAX_RESTARTS)) {
          throw importFailed(ref, problem);
        }
        if (problem !== undefined && deadline.problemOf(name) !== problem) {
          report.log(`The disk ${name} can't be filled at the moment: ${problem}`);
        }
        deadline.setProblem(name, problem);
        if (BEGUN_PHASES.test(phase)) deadline.setBegun(name);
        else deadline.setWaiting(name, conditionOf(conditions, 'Bound')?.message ?? (phase || 'CDI has not begun'));
        if (waitsForFirstStart(dataVolume) && !start) {
          report.log(`The disk ${name} will be filled when the VM is started for the first time.`);
          return true;
        }
        if (phase === 'Succeeded') report.log(`The disk ${name} is ready.`);
        return phase === 'Succeeded';
      };
      const onRemoved = (): boolean => {
        throw importFailed(ref, `the DataVolume ${name} was deleted`);
      };
      const object = { metadata: { namespace: ref.namespace, name } };
      await followObject<DataVolumeObject>({ ...deps, resource: DATA_VOLUMES, object, signal, onChange, onRemoved });
      deadline.setBegun(name);
      deadline.setProblem(name, undefined);
    };
    const failWithVm = async (): Promise<void> => {
      const onRemoved = (): boolean => {
        throw importFailed(ref, 'the VM was deleted');
      };
      const onChange = ({ metadata, status }: VmObject): boolean => {
        if (metadata.deletionTimestamp !== undefined) return onRemoved();
        const failure = conditionOf(status?.conditions, 'Failure');
        deadline.setProblem('', failure?.status === 'True' ? (failure.message ?? failure.reason) : undefined);
        return false;
      };
      await followObject<VmObject>({ ...deps, resource: VIRTUAL_MACHINES, object: vm, signal, onChange, onRemoved });
    };

    try {
      await Promise.race([Promise.all(dataVolumes.map(fill)), failWithVm()]);
    } finally {
      deadline.cancel();
      stop.abort(new Error('the import is no longer followed'));
    }
  };
}

/** Ends an import that has a problem, or does not begin, for too long. */
class ImportDeadline {
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

const importFailed = ({ name }: InstanceRef, reason: string): DomainError =>
  new DomainError('BACKEND_FAILED', `The import of the disk of ${name} failed: ${reason.replace(/\.$/, '')}.`);
