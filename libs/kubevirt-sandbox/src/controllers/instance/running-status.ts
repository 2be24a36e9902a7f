import type { Pod } from '../../types/core-kinds.js';
import { findCondition, isTrue, removeCondition } from '../../types/condition.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { SimulationContext } from '../../simulation-context.js';
import { enterPhase, GUEST_NOT_RUNNING, updateCondition } from './instance-phase.js';
import { interfaceStatuses } from './interface-status.js';
import { reportedOverhead } from './memory-overhead.js';
import { migrationMethodOf, refreshMigratability } from './migratability.js';
import { bootVolumes, bootVolumeStatus, diskTargets } from './volume-status.js';

/** The status of a VMI whose guest has just been started, on a draft. */
export function setRunning(context: SimulationContext, vmi: VirtualMachineInstance, pod: Pod): void {
  const now = context.clock.timestamp();
  const { spec } = vmi;
  const status = (vmi.status ??= {});
  enterPhase(vmi, 'Running', now);
  const { sockets, cores, threads } = spec.domain.cpu ?? {};
  const targets = diskTargets(vmi);
  Object.assign(status, {
    machine: { type: spec.domain.machine?.type === 'q35' ? 'pc-q35-rhel9.6.0' : spec.domain.machine?.type },
    currentCPUTopology: { sockets, cores, threads },
    memory: {
      guestAtBoot: spec.domain.memory?.guest,
      guestCurrent: spec.domain.memory?.guest,
      guestRequested: spec.domain.memory?.guest,
      ...reportedOverhead(context, vmi),
    },
    migrationMethod: migrationMethodOf(vmi),
    migrationTransport: 'Unix',
    runtimeUser: 107,
    volumeStatus: bootVolumes(vmi).map((volume) =>
      bootVolumeStatus(context, vmi, volume, targets.get(volume.name) ?? ''),
    ),
  });
  status.interfaces = interfaceStatuses(vmi, pod.status?.podIP);
  removeCondition((status.conditions ??= []), 'Provisioning');
  if (spec.startStrategy === 'Paused') {
    const message = 'VMI was paused by user';
    updateCondition(vmi, { type: 'Paused', status: 'True', reason: 'PausedByUser', message }, now);
  }
  updateReadiness(vmi, now);
  refreshMigratability(context, vmi);
  for (const type of ['LiveMigratable', 'StorageLiveMigratable']) {
    findCondition(status.conditions, type)!.lastTransitionTime = null;
  }
}

/** A running guest is ready unless it is paused. */
export function updateReadiness(vmi: VirtualMachineInstance, now: string): void {
  const ready = !isTrue(vmi.status?.conditions, 'Paused');
  updateCondition(vmi, ready ? { type: 'Ready', status: 'True' } : GUEST_NOT_RUNNING, now);
}
