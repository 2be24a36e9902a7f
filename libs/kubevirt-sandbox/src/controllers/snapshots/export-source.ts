import { RESOURCES } from '../../resources.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { VmExport, VmSnapshot, VmSnapshotContent } from '../../types/kubevirt-kinds.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';
import type { SimulationContext } from '../../simulation-context.js';
import { claimNameOf } from '../../machines/volume-snapshot-statuses.js';
import { isFinal } from '../../machines/printable-status.js';

/** The contents of an export, or the reason why it has to wait. */
export type ExportSource =
  | { claims: string[]; virtualMachineName?: string }
  | { waiting: { reason: string; message: string }; virtualMachineName?: string }
  /** There is nothing to export. */
  | { skipped: { reason: string; message: string }; virtualMachineName?: string };

export function exportSource(context: SimulationContext, vmExport: VmExport): ExportSource {
  const { kind, name } = vmExport.spec.source;
  const { namespace } = vmExport.metadata;
  if (kind === 'PersistentVolumeClaim') return fromClaim(context, namespace, name);
  if (kind === 'VirtualMachineSnapshot') return fromSnapshot(context, namespace, name);
  const vm = context.find<VirtualMachine>(RESOURCES.vm, namespace, name);
  if (!vm) return { ...skip('VMNotFound', `Virtual Machine ${namespace}/${name} not found`), virtualMachineName: name };
  const vmi = context.find<VirtualMachineInstance>(RESOURCES.vmi, namespace, name);
  if (vmi && !isFinal(vmi)) {
    return { ...wait('InUse', `Virtual Machine ${namespace}/${name} is running`), virtualMachineName: name };
  }
  const claims = (vm.spec.template.spec.volumes ?? []).flatMap((volume) => claimNameOf(volume) ?? []);
  if (claims.length === 0)
    return { ...skip('VMNoVolumes', `Virtual Machine ${namespace}/${name} has no volumes`), virtualMachineName: name };
  const pending = claims.some(
    (claim) => context.find<PersistentVolumeClaim>(RESOURCES.claim, namespace, claim)?.status?.phase !== 'Bound',
  );
  if (pending)
    return {
      ...wait('VolumesNotPopulated', 'Not all volumes in the Virtual Machine are populated'),
      virtualMachineName: name,
    };
  return { claims, virtualMachineName: name };
}

const wait = (reason: string, message: string) => ({ waiting: { reason, message } });
const skip = (reason: string, message: string) => ({ skipped: { reason, message } });

function fromClaim(context: SimulationContext, namespace: string | undefined, name: string): ExportSource {
  const claim = context.find<PersistentVolumeClaim>(RESOURCES.claim, namespace, name);
  if (!claim) return wait('PVCNotFound', `PersistentVolumeClaim ${namespace}/${name} not found`);
  const users = context.consumers.of(claim).filter((pod) => !pod.name.startsWith('virt-export-'));
  if (users.length > 0) return wait('InUse', `PersistentVolumeClaim ${namespace}/${name} is in use`);
  return claim.status?.phase === 'Bound'
    ? { claims: [name] }
    : wait('PVCPending', `PersistentVolumeClaim ${namespace}/${name} is pending`);
}

/** The claims have their names of the VM, although KubeVirt serves copies of them that it makes from the snapshot. */
function fromSnapshot(context: SimulationContext, namespace: string | undefined, name: string): ExportSource {
  const snapshot = context.find<VmSnapshot>(RESOURCES.snapshot, namespace, name);
  if (!snapshot?.status?.readyToUse)
    return wait('VMSnapshotNotFound', `VirtualMachineSnapshot ${namespace}/${name} not found`);
  const contentName = snapshot.status.virtualMachineSnapshotContentName ?? '';
  const content = context.find<VmSnapshotContent>(RESOURCES.snapshotContent, namespace, contentName);
  const claims = (content?.spec.volumeBackups ?? []).map(
    ({ persistentVolumeClaim }) => persistentVolumeClaim.metadata.name,
  );
  const virtualMachineName = snapshot.spec.source.name;
  return claims.length > 0
    ? { claims, virtualMachineName }
    : { ...skip('VMNoVolumes', 'Snapshot has no volumes'), virtualMachineName };
}
