import { DomainError, type InstanceRef, type BackgroundWork } from '@headgate/domain-contracts';
import { conditionOf, type Condition, type KubeObject } from '../api/kube-object.js';
import { DATA_VOLUMES } from '../api/resources.js';
import { followObject, type Following } from '../migration/follow-object.js';

interface DataVolumeObject extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly progress?: string;
    readonly restartCount?: number;
    readonly conditions?: readonly Condition[];
  };
}

/** CDI tries an address that does not answer for ever; after this many attempts it is taken for wrong. */
const ATTEMPTS = 3;
/** How often the DataVolume is looked for before KubeVirt has made it. */
const LOOK_MS = 500;
const LOOKS = 60;

/** CDI begins when the first pod needs the disk, that is when the VM is started. */
const WAITS_FOR_START: ReadonlySet<string> = new Set(['WaitForFirstConsumer', 'PendingPopulation']);

/** Follows the import of a new VM's disk to its end; `remove` takes back what was made when it fails. */
export function fillDisk(
  following: Following,
  ref: InstanceRef,
  name: string,
  remove: () => Promise<void>,
): BackgroundWork {
  return async (report) => {
    report.step('import');
    try {
      const volume = await appearing(following, ref.namespace, name, report.signal);
      const seen = ({ status }: DataVolumeObject): boolean => {
        const { phase = '', progress = '' } = status ?? {};
        const percent = /^(\d+(?:\.\d+)?)%$/.exec(progress)?.[1];
        if (percent !== undefined) report.progress(Math.min(1, Number(percent) / 100));
        const trouble = troubleOf(status);
        if (trouble !== undefined) throw importFailed(ref, trouble);
        if (WAITS_FOR_START.has(phase))
          report.log(`The disk of ${ref.name} is filled when the VM is started for the first time.`);
        return phase === 'Succeeded' || WAITS_FOR_START.has(phase);
      };
      const gone = (): boolean => {
        throw importFailed(ref, 'its DataVolume was deleted');
      };
      await followObject<DataVolumeObject>(following, DATA_VOLUMES, volume, report.signal, seen, gone);
      report.log(`The disk of ${ref.name} is ready.`);
    } catch (error) {
      // Nobody follows it any more, but the cluster goes on: only a failure takes it back.
      if (!report.signal.aborted) await remove();
      throw error;
    }
  };
}

async function appearing(
  { api, clock }: Following,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<KubeObject> {
  for (let look = 0; look < LOOKS; look++) {
    signal.throwIfAborted();
    const volume = await api.find(DATA_VOLUMES, { namespace, name });
    if (volume) return volume;
    await clock.delay(LOOK_MS);
  }
  throw new DomainError(
    'BACKEND_TIMEOUT',
    `KubeVirt did not make the DataVolume ${name} within ${(LOOKS * LOOK_MS) / 1000} s.`,
  );
}

function troubleOf(status: DataVolumeObject['status']): string | undefined {
  const running = conditionOf(status?.conditions, 'Running');
  if (status?.phase === 'Failed') return running?.message ?? 'CDI gave no reason';
  return (status?.restartCount ?? 0) >= ATTEMPTS && running?.status === 'False'
    ? (running.message ?? running.reason)
    : undefined;
}

const importFailed = ({ name }: InstanceRef, reason: string): DomainError =>
  new DomainError('BACKEND_FAILED', `The import of the disk of ${name} failed: ${reason}.`);
