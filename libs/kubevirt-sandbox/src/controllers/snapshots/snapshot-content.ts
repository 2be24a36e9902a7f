import { deepCopy } from '@headgate/kube-sandbox';
import { RESOURCES } from '../../resources.js';
import type { PersistentVolumeClaim, StorageClass } from '../../types/core-kinds.js';
import type { VmSnapshot, VmSnapshotContent, VolumeBackup, VolumeSnapshot } from '../../types/kubevirt-kinds.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';
import { controlledBy, type SimulationContext } from '../../simulation-context.js';
import { snapshotClassFor } from '../../storage-classes/snapshot-class.js';
import { claimNameOf } from '../../machines/volume-snapshot-statuses.js';

/** The volumes of a VM that a snapshot includes. */
export function splitVolumes(vm: VirtualMachine): { includedVolumes: string[]; excludedVolumes: string[] } {
  const included = new Set(
    (vm.status?.volumeSnapshotStatuses ?? []).filter(({ enabled }) => enabled).map(({ name }) => name),
  );
  const names = (vm.spec.template.spec.volumes ?? []).map(({ name }) => name);
  return {
    includedVolumes: names.filter((name) => included.has(name)),
    excludedVolumes: names.filter((name) => !included.has(name)),
  };
}

/** Creates the content of a snapshot, with a VolumeSnapshot per volume. */
export function createContent(context: SimulationContext, snapshot: VmSnapshot, vm: VirtualMachine): VmSnapshotContent {
  const { namespace, uid } = snapshot.metadata;
  const { includedVolumes } = splitVolumes(vm);
  const volumeBackups = (vm.spec.template.spec.volumes ?? [])
    .filter(({ name }) => includedVolumes.includes(name))
    .map((volume) => backUp(context, snapshot, volume.name, claimNameOf(volume)!));
  return context.store.create<VmSnapshotContent>(RESOURCES.snapshotContent, {
    apiVersion: 'snapshot.kubevirt.io/v1beta1',
    kind: 'VirtualMachineSnapshotContent',
    metadata: {
      name: `vmsnapshot-content-${uid}`,
      namespace,
      finalizers: ['snapshot.kubevirt.io/vmsnapshotcontent-protection'],
    },
    spec: {
      source: { virtualMachine: withoutRuntime(vm) },
      virtualMachineSnapshotName: snapshot.metadata.name,
      volumeBackups,
    },
  });
}

function withoutRuntime(vm: VirtualMachine): VirtualMachine {
  const { name, namespace, labels, annotations, uid } = vm.metadata;
  const metadata = { name, namespace, uid, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) };
  return deepCopy({ apiVersion: vm.apiVersion, kind: vm.kind, metadata, spec: vm.spec });
}

function backUp(context: SimulationContext, snapshot: VmSnapshot, volumeName: string, claimName: string): VolumeBackup {
  const { namespace, uid } = snapshot.metadata;
  const claim = context.store.require<PersistentVolumeClaim>(RESOURCES.claim, { namespace, name: claimName });
  const storageClass = context.find<StorageClass>(RESOURCES.storageClass, undefined, claim.spec.storageClassName ?? '');
  const volumeSnapshotName = `vmsnapshot-${uid}-volume-${volumeName}`;
  if (!context.find(RESOURCES.volumeSnapshot, namespace, volumeSnapshotName)) {
    context.store.create<VolumeSnapshot>(RESOURCES.volumeSnapshot, {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshot',
      metadata: {
        name: volumeSnapshotName,
        namespace,
        ownerReferences: [controlledBy(snapshot)],
      },
      spec: {
        source: { persistentVolumeClaimName: claimName },
        volumeSnapshotClassName: storageClass && snapshotClassFor(context, storageClass),
      },
    });
  }
  const { spec, metadata } = claim;
  return {
    volumeName,
    volumeSnapshotName,
    persistentVolumeClaim: deepCopy({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: metadata.name, namespace },
      spec,
    }),
  };
}
