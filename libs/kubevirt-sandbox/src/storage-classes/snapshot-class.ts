import { RESOURCES } from '../resources.js';
import type { StorageClass } from '../types/core-kinds.js';
import type { StorageProfile, VolumeSnapshotClass } from '../types/kubevirt-kinds.js';
import type { SimulationContext } from '../simulation-context.js';

const DEFAULT_CLASS = 'snapshot.storage.kubernetes.io/is-default-class';

/** The snapshot class that KubeVirt uses for volumes of a storage class; undefined when there is none. */
export function snapshotClassFor(context: SimulationContext, storageClass: StorageClass): string | undefined {
  if (context.without.has('snapshots')) return undefined;
  const profile = context.find<StorageProfile>(RESOURCES.storageProfile, undefined, storageClass.metadata.name);
  if (profile?.status?.snapshotClass) return profile.status.snapshotClass;
  const fitting = context.store.list<VolumeSnapshotClass>(RESOURCES.volumeSnapshotClass, {
    where: ({ driver }) => driver === storageClass.provisioner,
  });
  const preferred = fitting.find(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === 'true');
  return (preferred ?? fitting[0])?.metadata.name;
}
