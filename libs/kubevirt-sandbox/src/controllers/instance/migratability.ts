import { RESOURCES } from '../../resources.js';
import type { Condition } from '../../types/condition.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { SimulationContext } from '../../simulation-context.js';
import { updateCondition } from './instance-phase.js';
import { claimNameOf } from '../../machines/volume-snapshot-statuses.js';

const ALLOW_BRIDGE = 'kubevirt.io/allow-pod-bridge-network-live-migration';

type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** The conditions LiveMigratable and StorageLiveMigratable of a running VMI. */
function migratability(context: SimulationContext, vmi: VirtualMachineInstance): Verdict[] {
  const storage = networkObstacle(vmi) ?? cpuObstacle(vmi) ?? deviceObstacle(vmi);
  const obstacle = storage ?? diskObstacle(context, vmi);
  return [
    { type: 'LiveMigratable', ...verdict(obstacle) },
    { type: 'StorageLiveMigratable', ...verdict(storage) },
  ];
}

/** Updates these conditions, on a draft. */
export function refreshMigratability(context: SimulationContext, vmi: VirtualMachineInstance): void {
  for (const condition of migratability(context, vmi)) updateCondition(vmi, condition, context.clock.timestamp());
}

type Obstacle = { reason: string; message: string } | undefined;

const verdict = (obstacle: Obstacle): Omit<Verdict, 'type'> =>
  obstacle ? { status: 'False', ...obstacle } : { status: 'True' };

function networkObstacle({ spec, metadata }: VirtualMachineInstance): Obstacle {
  const pod = spec.networks?.find((network) => network.pod);
  const nic = spec.domain.devices.interfaces?.find(({ name }) => name === pod?.name);
  if (!nic || nic.masquerade || nic.binding || metadata.annotations?.[ALLOW_BRIDGE] !== undefined) return undefined;
  return {
    reason: 'InterfaceNotLiveMigratable',
    message: 'cannot migrate VMI which does not use masquerade or a migratable plugin to connect to the pod network',
  };
}

function cpuObstacle({ spec }: VirtualMachineInstance): Obstacle {
  if (spec.domain.cpu?.model !== 'host-passthrough') return undefined;
  return { reason: 'CPUModeLiveMigratable', message: 'VMI uses host-passthrough CPU mode' };
}

function deviceObstacle({ spec }: VirtualMachineInstance): Obstacle {
  const { gpus = [], hostDevices = [] } = spec.domain.devices;
  if (gpus.length === 0 && hostDevices.length === 0) return undefined;
  return { reason: 'HostDeviceNotLiveMigratable', message: 'VMI uses a PCI host devices' };
}

function diskObstacle(context: SimulationContext, vmi: VirtualMachineInstance): Obstacle {
  for (const volume of vmi.spec.volumes ?? []) {
    const name = claimNameOf(volume);
    // Disks that a migration copies need not be shared.
    if (!name || vmi.status?.migratedVolumes?.some(({ volumeName }) => volumeName === volume.name)) continue;
    const claim = context.find<PersistentVolumeClaim>(RESOURCES.claim, vmi.metadata.namespace, name);
    if (!claim || claim.spec.accessModes?.includes('ReadWriteMany')) continue;
    return {
      reason: 'DisksNotLiveMigratable',
      message: `cannot migrate VMI: PVC ${name} is not shared, live migration requires that all PVCs must be shared (using ReadWriteMany access mode)`,
    };
  }
  return undefined;
}

/** Disks that exist on this node only are copied by the migration. */
export const migrationMethodOf = ({ spec }: VirtualMachineInstance): string =>
  (spec.volumes ?? []).some((volume) => !claimNameOf(volume)) ? 'BlockMigration' : 'LiveMigration';
