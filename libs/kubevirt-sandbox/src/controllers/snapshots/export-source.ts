import { RESOURCES } from '../../resources.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { VmExport, VmSnapshot, VmSnapshotContent } from '../../types/kubevirt-kinds.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';
import type { World } from '../../world.js';
import { claimNameOf } from '../virtual-machine/volume-snapshot-statuses.js';
import { isFinal } from '../virtual-machine/printable-status.js';

/** What an export would hold, or why it has to wait. */
export type ExportSource =
  | { claims: string[]; virtualMachineName?: string }
  | { waiting: { reason: string; message: string }; virtualMachineName?: string }
  | { skipped: string; virtualMachineName?: string };

export function exportSource(world: World, vmExport: VmExport): ExportSource {
  const { kind, name } = vmExport.spec.source;
  const { namespace } = vmExport.metadata;
  if (kind === 'PersistentVolumeClaim') return fromClaim(world, namespace, name);
  if (kind === 'VirtualMachineSnapshot') return fromSnapshot(world, namespace, name);
  const vm = world.find<VirtualMachine>(RESOURCES.vm, namespace, name);
  if (!vm) return wait('VMNotFound', `VirtualMachine ${namespace}/${name} not found`);
  const vmi = world.find<VirtualMachineInstance>(RESOURCES.vmi, namespace, name);
  if (vmi && !isFinal(vmi)) {
    return { ...wait('InUse', `Virtual Machine ${namespace}/${name} is running`), virtualMachineName: name };
  }
  const claims = (vm.spec.template.spec.volumes ?? []).flatMap((volume) => claimNameOf(volume) ?? []);
  if (claims.length === 0) return { skipped: 'Virtual Machine has no exportable volumes', virtualMachineName: name };
  const pending = claims.some(
    (claim) => world.find<PersistentVolumeClaim>(RESOURCES.claim, namespace, claim)?.status?.phase !== 'Bound',
  );
  if (pending)
    return {
      ...wait('VolumesNotPopulated', 'Not all volumes in the Virtual Machine are populated'),
      virtualMachineName: name,
    };
  return { claims, virtualMachineName: name };
}

const wait = (reason: string, message: string) => ({ waiting: { reason, message } });

function fromClaim(world: World, namespace: string | undefined, name: string): ExportSource {
  const claim = world.find<PersistentVolumeClaim>(RESOURCES.claim, namespace, name);
  if (!claim) return wait('PVCNotFound', `PersistentVolumeClaim ${namespace}/${name} not found`);
  const users = world.consumers.of(claim).filter((pod) => !pod.name.startsWith('virt-export-'));
  if (users.length > 0) return wait('InUse', `PersistentVolumeClaim ${namespace}/${name} is in use`);
  return claim.status?.phase === 'Bound'
    ? { claims: [name] }
    : wait('PVCPending', `PersistentVolumeClaim ${namespace}/${name} is pending`);
}

/** The disks as they were are the claims' own here: simulated disks are not written to. */
function fromSnapshot(world: World, namespace: string | undefined, name: string): ExportSource {
  const snapshot = world.find<VmSnapshot>(RESOURCES.snapshot, namespace, name);
  if (!snapshot?.status?.readyToUse)
    return wait('VMSnapshotNotFound', `VirtualMachineSnapshot ${namespace}/${name} not found`);
  const contentName = snapshot.status.virtualMachineSnapshotContentName ?? '';
  const content = world.find<VmSnapshotContent>(RESOURCES.snapshotContent, namespace, contentName);
  const claims = (content?.spec.volumeBackups ?? []).map(
    ({ persistentVolumeClaim }) => persistentVolumeClaim.metadata.name,
  );
  const virtualMachineName = snapshot.spec.source.name;
  return claims.length > 0
    ? { claims, virtualMachineName }
    : { skipped: 'Snapshot has no volumes', virtualMachineName };
}
