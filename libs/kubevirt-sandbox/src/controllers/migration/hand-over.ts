import { RESOURCES } from '../../resources.js';
import { removeCondition } from '../../types/condition.js';
import type { PersistentVolumeClaim, Pod } from '../../types/core-kinds.js';
import type { MigrationState, VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { SimulationContext } from '../../simulation-context.js';
import { moveAttachments } from '../instance/hotplug-volumes.js';
import { interfaceStatuses } from '../instance/interface-status.js';
import { reportedOverhead } from '../instance/memory-overhead.js';
import { refreshMigratability } from '../instance/migratability.js';
import { claimInfo } from '../instance/volume-status.js';

/** Moves the guest to the target pod and applies the changes that waited for a migration, on a draft. */
export function handOver(context: SimulationContext, vmi: VirtualMachineInstance, target: Pod): void {
  const now = context.clock.timestamp();
  const status = vmi.status!;
  const node = target.spec.nodeName!;
  status.nodeName = node;
  delete status.evacuationNodeName;
  status.activePods = { [target.metadata.uid!]: node };
  vmi.metadata.labels = { ...vmi.metadata.labels, 'kubevirt.io/nodeName': node };
  const { sockets, cores, threads } = vmi.spec.domain.cpu ?? {};
  status.currentCPUTopology = { sockets, cores, threads };
  const { guest } = vmi.spec.domain.memory ?? {};
  status.memory = { ...status.memory, ...(guest && { guestCurrent: guest }), ...reportedOverhead(context, vmi) };
  for (const type of ['HotVCPUChange', 'HotMemoryChange', 'MigrationRequired', 'VolumesChange']) {
    removeCondition((status.conditions ??= []), type);
  }
  useMigratedVolumes(context, vmi);
  refreshMigratability(context, vmi);
  status.interfaces = interfaceStatuses(vmi, target.status?.podIP);
  const targetAttachmentPodUID = moveAttachments(context, vmi, target);
  status.migrationState = {
    ...status.migrationState,
    ...(targetAttachmentPodUID === undefined ? {} : { targetAttachmentPodUID }),
    completed: true,
    endTimestamp: now,
  };
}

/** The guest uses the copies of its disks. */
function useMigratedVolumes(context: SimulationContext, { metadata, status }: VirtualMachineInstance): void {
  for (const { volumeName, destinationPVCInfo } of status!.migratedVolumes ?? []) {
    const claim = context.find<PersistentVolumeClaim>(
      RESOURCES.claim,
      metadata.namespace,
      destinationPVCInfo.claimName,
    );
    const volume = status!.volumeStatus?.find(({ name }) => name === volumeName);
    if (volume && claim) volume.persistentVolumeClaimInfo = claimInfo(claim);
  }
  delete status!.migratedVolumes;
}

/** The migration state of a VMI while it migrates. */
export function beginState(
  context: SimulationContext,
  vmi: VirtualMachineInstance,
  migrationUid: string,
  target: Pod,
): MigrationState {
  const source = context.store
    .ownedBy<Pod>(RESOURCES.pod, vmi.metadata.uid!)
    .find(({ metadata }) => metadata.uid !== target.metadata.uid);
  return {
    migrationUid,
    mode: 'PreCopy',
    sourceNode: vmi.status?.nodeName,
    sourcePod: source?.metadata.name,
    targetNode: target.spec.nodeName,
    targetPod: target.metadata.name,
    startTimestamp: context.clock.timestamp(),
  };
}
