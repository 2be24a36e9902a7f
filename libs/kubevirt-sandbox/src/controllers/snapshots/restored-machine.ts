import { deepCopy } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { VmRestore, VmSnapshotContent, VolumeBackup } from '../../types/kubevirt-kinds.js';
import type { VirtualMachine, VmSpec } from '../../types/virtual-machine.js';
import { controlledBy, type SimulationContext } from '../../simulation-context.js';

export const restoredClaimName = ({ metadata }: VmRestore, volumeName: string): string =>
  `restore-${metadata.uid}-${volumeName}`;

/** A claim filled from a volume's snapshot. The VM owns it as soon as it exists. */
export function createRestoredClaim(
  context: SimulationContext,
  restore: VmRestore,
  backup: VolumeBackup,
  owner: VirtualMachine | undefined,
): void {
  const { namespace } = restore.metadata;
  const name = restoredClaimName(restore, backup.volumeName);
  if (context.find(RESOURCES.claim, namespace, name)) return;
  const { accessModes, storageClassName, volumeMode, resources } = backup.persistentVolumeClaim.spec;
  context.store.create<PersistentVolumeClaim>(RESOURCES.claim, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace,
      annotations: { 'restore.kubevirt.io/name': restore.metadata.name, 'cdi.kubevirt.io/storage.populatedFor': name },
      ...(owner ? { ownerReferences: [controlledBy(owner)] } : {}),
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
  for (const { volumeName } of content.spec.volumeBackups ?? []) {
    const volume = spec.template.spec.volumes?.find(({ name }) => name === volumeName);
    if (!volume) continue;
    const claimName = restoredClaimName(restore, volumeName);
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
