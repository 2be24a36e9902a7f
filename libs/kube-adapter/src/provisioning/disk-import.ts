import { DomainError, type BackgroundWork, type InstanceRef } from '@headgate/domain-contracts';
import { conditionOf, type KubeObject } from '../api/kube-object.js';
import type { VmObject } from '../api/object-types.js';
import { VIRTUAL_MACHINES } from '../api/resources.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { followDataVolume, ImportDeadline } from './follow-data-volume.js';

export interface DiskImport {
  readonly ref: InstanceRef;
  readonly vm: KubeObject;
  /** Names of the DataVolumes that KubeVirt creates for the VM. */
  readonly dataVolumes: readonly string[];
  /** Whether the VM is being started: then a disk that waits for its first consumer is still to be filled. */
  readonly start: boolean;
}

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

    const fill = (name: string): Promise<void> =>
      followDataVolume(deps, {
        ...{ namespace: ref.namespace, name, subject: `The disk ${name}` },
        ...{ start, report, signal, deadline },
        failed: (reason) => importFailed(ref, reason),
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
    }
  };
}

const importFailed = ({ name }: InstanceRef, reason: string): DomainError =>
  new DomainError('BACKEND_FAILED', `The import of the disk of ${name} failed: ${reason.replace(/\.$/, '')}.`);
