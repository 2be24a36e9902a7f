import { randomBytes } from 'node:crypto';
import { DomainError, type BackupConsistency, type InstanceRef } from '@headgate/domain-contracts';
import { conditionOf, type KubeObject, type OwnerReference } from '../api/kube-object.js';
import { SNAPSHOTS } from '../api/resources.js';
import { ANNOTATION, LABEL } from '../labels.js';
import { BeatingObjects } from '../left-overs/beating-objects.js';
import { failureOf, type SnapshotObject } from '../snapshots/snapshot-objects.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';

/** Identifies one reading of a backup. */
export interface ReadingId {
  readonly id: string;
  readonly series: string;
}

/** KubeVirt's own deadline is five minutes, and it reports what it has missed. */
const READY_TIMEOUT_MS = 6 * 60_000;

export const backupLabels = ({ id }: Pick<ReadingId, 'id'>): Readonly<Record<string, string>> => ({
  [LABEL.backup]: id,
});

export const ownerOf = ({ metadata: { name = '', uid = '' } }: SnapshotObject): OwnerReference => ({
  apiVersion: SNAPSHOTS.apiVersion,
  kind: SNAPSHOTS.kind,
  name,
  uid,
});

/** The snapshots that hold the disks of VMs as they were when their backups began. */
export class MomentSnapshots extends BeatingObjects<SnapshotObject> {
  constructor(private readonly deps: WatchDeps) {
    super(deps.api, {
      resource: SNAPSHOTS,
      label: LABEL.backup,
      beat: ANNOTATION.backupBeat,
      annotations: [ANNOTATION.backupSeries],
    });
  }

  /** It is no snapshot of the user, so it has no label of its VM. */
  create({ namespace, name }: InstanceRef, reading: ReadingId): Promise<SnapshotObject> {
    return this.deps.api.create<SnapshotObject>(SNAPSHOTS, {
      metadata: {
        name: `hg-backup-${randomBytes(6).toString('hex')}`,
        namespace,
        labels: backupLabels(reading),
        annotations: { [ANNOTATION.backupSeries]: reading.series, [ANNOTATION.backupBeat]: '0' },
      },
      spec: { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name } },
    } as KubeObject);
  }

  async exists({ metadata: { namespace, name, uid } }: SnapshotObject): Promise<boolean> {
    const options = { ...(namespace !== undefined && { namespace }), fieldSelector: `metadata.name=${name}` };
    const [found] = await this.deps.api.list<SnapshotObject>(SNAPSHOTS, options);
    return found?.metadata.uid === uid && found?.metadata.deletionTimestamp === undefined;
  }

  /** @throws DomainError BACKEND_FAILED, BACKEND_TIMEOUT, SNAPSHOT_NOT_FOUND */
  async whenReady(snapshot: SnapshotObject, vm: string, signal: AbortSignal): Promise<SnapshotObject> {
    const late = new AbortController();
    let waitsFor = 'KubeVirt has not begun';
    const cancel = this.deps.clock.after(READY_TIMEOUT_MS, () =>
      late.abort(new DomainError('BACKEND_TIMEOUT', `The disks of ${vm} were not saved in time: ${waitsFor}.`)),
    );
    let ready = snapshot;
    try {
      await followObject<SnapshotObject>({
        ...this.deps,
        resource: SNAPSHOTS,
        object: snapshot,
        signal: AbortSignal.any([signal, late.signal]),
        onChange: (version) => {
          const { phase, readyToUse, conditions } = version.status ?? {};
          if (phase === 'Failed') {
            const why = failureOf(version.status) ?? 'KubeVirt gave no reason';
            throw new DomainError('BACKEND_FAILED', `The disks of ${vm} can't be saved: ${why}.`);
          }
          waitsFor = conditionOf(conditions, 'Progressing')?.reason ?? waitsFor;
          ready = version;
          return phase === 'Succeeded' && readyToUse === true;
        },
        onRemoved: () => {
          throw snapshotGone(vm);
        },
      });
      return ready;
    } finally {
      cancel();
    }
  }
}

export const snapshotGone = (vm: string): DomainError =>
  new DomainError('SNAPSHOT_NOT_FOUND', `The snapshot of the backup of ${vm} was deleted before it was read.`);

/** How KubeVirt has found the guest, and whether it had a moment of rest. */
export function consistencyOf(
  { status }: SnapshotObject,
  { isRunning }: { readonly isRunning: boolean },
): {
  readonly consistency: BackupConsistency;
  readonly warnings: readonly string[];
} {
  const { indications = [], sourceIndications = [] } = status ?? {};
  const found = new Set([...indications, ...sourceIndications.map(({ indication }) => indication)]);
  if (!isRunning && !found.has('Online')) return { consistency: 'stopped', warnings: [] };
  const isLate = [...found].some((one) => one.startsWith('Quiesce'));
  if (isLate)
    return {
      consistency: 'crash',
      warnings: ['The agent of the guest did not freeze its file systems, so the disks are as after a power failure.'],
    };
  // A guest that is paused can't freeze anything.
  const isFrozen = found.has('GuestAgent') && !found.has('NoGuestAgent') && !found.has('Paused');
  return { consistency: isFrozen ? 'frozen' : 'crash', warnings: [] };
}
