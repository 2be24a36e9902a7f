import { conditionOf } from '../api/kube-object.js';
import type { DataVolumeObject } from '../api/object-types.js';

/** The part of an unfinished DataVolume that the records of its VMs are built from. */
export interface DataVolumeFacts {
  /** One sentence why it is not filled yet. */
  readonly reason: string;
}

/** Phases in which CDI waits for the first pod that uses the disk, that is until the VM is started. */
const WAITING_PHASES: ReadonlySet<string> = new Set(['WaitForFirstConsumer', 'PendingPopulation']);

export const waitsForFirstStart = ({ status }: DataVolumeObject): boolean => WAITING_PHASES.has(status?.phase ?? '');

/** Whether everything that a service does for a disk is done: it is filled, or CDI fills it at the first start. */
export const isProvided = (dataVolume: DataVolumeObject): boolean =>
  dataVolume.status?.phase === 'Succeeded' ||
  (waitsForFirstStart(dataVolume) && dataVolume.spec?.source?.upload === undefined);

/**
 * CDI's explanation for a disk that can't be filled at the moment: the importer fails (`Error`, `ImagePullFailed`), or
 * the claim can't be created (`ErrClaimNotValid`, `ErrExceededQuota`). A claim's own phase shows nothing: with a CSI
 * driver it is Pending until the import is complete.
 */
export function importProblem({ status }: DataVolumeObject): string | undefined {
  const [bound, running] = ['Bound', 'Running'].map((type) => conditionOf(status?.conditions, type));
  if (status?.phase === 'Failed') return running?.message || bound?.message || 'CDI gave no reason';
  const failing = [bound, running].find(
    (condition) => condition?.status !== 'True' && /^(Err|ImagePullFailed|Unschedulable)/.test(condition?.reason ?? ''),
  );
  return failing && (failing.message || failing.reason);
}

/** @returns undefined for a filled one, and for one that waits for the VM to be started */
export function dataVolumeFacts(dataVolume: DataVolumeObject): DataVolumeFacts | undefined {
  const { metadata, status } = dataVolume;
  if (status?.phase === 'Succeeded' || waitsForFirstStart(dataVolume)) return undefined;
  const problem = importProblem(dataVolume);
  return {
    reason:
      problem === undefined
        ? `The disk ${metadata.name} is being filled.`
        : `The disk ${metadata.name} can't be filled: ${problem.replace(/\.$/, '')}.`,
  };
}

/** From 0 to 1, or null while CDI reports none. */
export function progressOf({ status }: DataVolumeObject): number | null {
  if (status?.phase === 'Succeeded') return 1;
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(status?.progress ?? '')?.[1];
  return percent === undefined ? null : Math.min(1, Number(percent) / 100);
}
