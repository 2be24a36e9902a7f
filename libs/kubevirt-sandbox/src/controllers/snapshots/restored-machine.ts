import { deepCopy } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { VmRestore, VmSnapshotContent, VolumeBackup } from '../../types/kubevirt-kinds.js';
import type { VirtualMachine, VmSpec } from '../../types/virtual-machine.js';
import { controlledBy, type SimulationContext } from '../../simulation-context.js';

type Source = Pick<VolumeBackup, 'volumeName' | 'persistentVolumeClaim'>;

const overrideOf = ({ spec }: VmRestore, volumeName: string) =>
  spec.volumeRestoreOverrides?.find((override) => override.volumeName === volumeName);

/** The name of the claim that a volume is restored to. */
export function restoredClaimName(restore: VmRestore, { volumeName, persistentVolumeClaim }: Source): string {
  const wanted = overrideOf(restore, volumeName)?.restoreName;
  if (wanted) return wanted;
  switch (restore.spec.volumeRestorePolicy) {
    case 'InPlace':
      return persistentVolumeClaim.metadata.name;
    case 'PrefixTargetName':
      return `${restore.spec.target.name}-${volumeName}`;
    default:
      return `restore-${restore.metadata.uid}-${volumeName}`;
  }
}

const RESTORE_NAME = 'restore.kubevirt.io/name';

/** The claims in use that a restore in place replaces. */
export function claimsToReplace(
  context: SimulationContext,
  restore: VmRestore,
  backups: readonly VolumeBackup[],
): PersistentVolumeClaim[] {
  if (restore.spec.volumeRestorePolicy !== 'InPlace') return [];
  return backups.flatMap((backup) => {
    const name = restoredClaimName(restore, backup);
    const claim = context.find<PersistentVolumeClaim>(RESOURCES.claim, restore.metadata.namespace, name);
    return claim && claim.metadata.annotations?.[RESTORE_NAME] !== restore.metadata.name ? [claim] : [];
  });
}

/** Whether the VM owns its restored claims. */
export const isOwned = ({ spec }: VmRestore): boolean => spec.volumeOwnershipPolicy !== 'None';

/** A claim filled from a volume's snapshot. The VM owns it as soon as it exists. */
export function createRestoredClaim(
  context: SimulationContext,
  restore: VmRestore,
  backup: VolumeBackup,
  owner: VirtualMachine | undefined,
): void {
  const { namespace } = restore.metadata;
  const name = restoredClaimName(restore, backup);
  const { labels, annotations } = overrideOf(restore, backup.volumeName) ?? {};
  if (context.find(RESOURCES.claim, namespace, name)) return;
  const { accessModes, storageClassName, volumeMode, resources } = backup.persistentVolumeClaim.spec;
  context.store.create<PersistentVolumeClaim>(RESOURCES.claim, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace,
      ...(labels ? { labels } : {}),
      annotations: {
        [RESTORE_NAME]: restore.metadata.name,
        'cdi.kubevirt.io/storage.populatedFor': name,
        ...annotations,
      },
      ...(owner && isOwned(restore) ? { ownerReferences: [controlledBy(owner)] } : {}),
    },
    spec: {
      accessModes,
      storageClassName,
      volumeMode,
      resources: deepCopy(resources),
      dataSource: {
        apiGroup: 'snapshot.storage.k8s.io',
        kind: 'VolumeSnapshot',
        name: backup.volumeSnapshotName ?? '',
      },
    },
    status: { phase: 'Pending' },
  });
}

/** The snapshotted spec with the new claims instead of the old disks. */
export function restoredSpec(restore: VmRestore, content: VmSnapshotContent): VmSpec {
  const spec = deepCopy(content.spec.source.virtualMachine.spec);
  for (const backup of content.spec.volumeBackups ?? []) {
    const volume = spec.template.spec.volumes?.find(({ name }) => name === backup.volumeName);
    if (!volume) continue;
    const claimName = restoredClaimName(restore, backup);
    const template = spec.dataVolumeTemplates?.find(({ metadata }) => metadata.name === volume.dataVolume?.name);
    if (template && volume.dataVolume) {
      template.metadata.name = claimName;
      volume.dataVolume.name = claimName;
    } else {
      delete volume.dataVolume;
      volume.persistentVolumeClaim = { ...volume.persistentVolumeClaim, claimName };
    }
  }
  return spec;
}
