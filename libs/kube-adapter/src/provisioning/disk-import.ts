import { DomainError, type BackgroundWork, type InstanceRef, type TaskReporter } from '@headgate/domain-contracts';
import { conditionOf, type KubeObject } from '../api/kube-object.js';
import type { VmObject } from '../api/object-types.js';
import { VIRTUAL_MACHINES } from '../api/resources.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { followDataVolume, ImportDeadline } from '../data-volumes/follow-data-volume.js';

export interface DiskImport {
  readonly ref: InstanceRef;
  readonly vm: KubeObject;
  /** Names of the DataVolumes that KubeVirt creates for the VM. */
  readonly dataVolumes: readonly string[];
  /** Whether the VM is being started: then a disk that waits for its first consumer is still to be filled. */
  readonly start: boolean;
  /** Sends the content of a DataVolume that waits for it. */
  readonly upload?: (dataVolume: string, options: { report: TaskReporter; signal: AbortSignal }) => Promise<void>;
}

/**
 * Follows the import of a new VM's disks to its end. A failed import leaves the VM: its reason shows the problem, and
 * CDI may still succeed when the problem is solved.
 */
export function followImport(deps: WatchDeps, { ref, vm, dataVolumes, start, upload }: DiskImport): BackgroundWork {
  return async (report) => {
    report.step('import');
    const stop = new AbortController();
    const signal = AbortSignal.any([report.signal, stop.signal]);
    const deadline = new ImportDeadline(deps.clock, dataVolumes, (reason) => stop.abort(importFailed(ref, reason)));

    const sending = new Map<string, Promise<void>>();
    const send = (name: string): void => {
      if (upload && !sending.has(name))
        sending.set(
          name,
          upload(name, { report, signal }).catch((error: unknown) => stop.abort(error)),
        );
    };
    const fill = (name: string): Promise<void> =>
      followDataVolume(deps, {
        namespace: ref.namespace,
        name,
        subject: `The disk ${name}`,
        // A disk that is uploaded does not wait for the first start.
        start: start || upload !== undefined,
        report,
        signal,
        deadline,
        failed: (reason) => importFailed(ref, reason),
        onUploadReady: () => send(name),
      });
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
      await Promise.all(sending.values());
    }
  };
}

const importFailed = ({ name }: InstanceRef, reason: string): DomainError =>
  new DomainError('BACKEND_FAILED', `The import of the disk of ${name} failed: ${reason.replace(/\.$/, '')}.`);
