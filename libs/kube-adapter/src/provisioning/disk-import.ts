import { DomainError, type InstanceRef, type BackgroundWork } from '@headgate/domain-contracts';
import { conditionOf, type KubeObject } from '../api/kube-object.js';
import type { DataVolumeObject } from '../api/object-types.js';
import { DATA_VOLUMES } from '../api/resources.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';

export interface DiskImport {
  readonly ref: InstanceRef;
  /** Name of the DataVolume. */
  readonly dataVolume: string;
  /** Removes the VM after a failed import. */
  removeVm(): Promise<void>;
}

/** CDI retries an address that does not answer forever; after this many restarts the import counts as failed. */
const MAX_RESTARTS = 3;
/** How often and how many times to look for the DataVolume that KubeVirt creates. */
const LOOKUP_INTERVAL_MS = 500;
const MAX_LOOKUPS = 60;

/** Phases in which CDI waits for the first pod that uses the disk, that is until the VM is started. */
const WAITING_PHASES: ReadonlySet<string> = new Set(['WaitForFirstConsumer', 'PendingPopulation']);

/** Follows the import of a new VM's disk to its end, and removes the VM when it fails. */
export function followImport(deps: WatchDeps, { ref, dataVolume, removeVm }: DiskImport): BackgroundWork {
  return async (report) => {
    const { signal } = report;
    report.step('import');
    try {
      const onChange = ({ status }: DataVolumeObject): boolean => {
        const { phase = '', progress = '' } = status ?? {};
        const percent = /^(\d+(?:\.\d+)?)%$/.exec(progress)?.[1];
        if (percent !== undefined) report.progress(Math.min(1, Number(percent) / 100));
        const problem = importProblem(status);
        if (problem !== undefined) throw importFailed(ref, problem);
        if (WAITING_PHASES.has(phase)) {
          report.log(`The disk of ${ref.name} will be filled when the VM is started for the first time.`);
        }
        return phase === 'Succeeded' || WAITING_PHASES.has(phase);
      };
      const onRemoved = (): boolean => {
        throw importFailed(ref, 'its DataVolume was deleted');
      };
      const object = await whenCreated(deps, { namespace: ref.namespace, name: dataVolume, signal });
      await followObject<DataVolumeObject>({ ...deps, resource: DATA_VOLUMES, object, signal, onChange, onRemoved });
      report.log(`The disk of ${ref.name} is ready.`);
    } catch (error) {
      // After an abort the cluster continues the import: only a failure removes the VM.
      if (!signal.aborted) await removeVm();
      throw error;
    }
  };
}

async function whenCreated(
  { api, clock }: WatchDeps,
  { namespace, name, signal }: { readonly namespace: string; readonly name: string; readonly signal: AbortSignal },
): Promise<KubeObject> {
  for (let lookup = 0; lookup < MAX_LOOKUPS; lookup++) {
    signal.throwIfAborted();
    const volume = await api.find(DATA_VOLUMES, { namespace, name });
    if (volume) return volume;
    await clock.delay(LOOKUP_INTERVAL_MS);
  }
  throw new DomainError(
    'BACKEND_TIMEOUT',
    `KubeVirt did not create the DataVolume ${name} within ${(MAX_LOOKUPS * LOOKUP_INTERVAL_MS) / 1000} s.`,
  );
}

function importProblem(status: DataVolumeObject['status']): string | undefined {
  const running = conditionOf(status?.conditions, 'Running');
  if (status?.phase === 'Failed') return running?.message ?? 'CDI gave no reason';
  return (status?.restartCount ?? 0) >= MAX_RESTARTS && running?.status === 'False'
    ? (running.message ?? running.reason)
    : undefined;
}

const importFailed = ({ name }: InstanceRef, reason: string): DomainError =>
  new DomainError('BACKEND_FAILED', `The import of the disk of ${name} failed: ${reason}.`);
