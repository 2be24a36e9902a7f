import { deepCopy, deepEqual } from '@headgate/kube-sandbox';
import { GIB, quantityValue } from '../../quantity.js';
import { findCondition, isTrue, setCondition } from '../../types/condition.js';
import type { VirtualMachineInstance, VmiSpec, Volume } from '../../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';
import type { SimulationContext } from '../../simulation-context.js';
import { buildInstance } from './instance-builder.js';

const PAGE = 2 ** 21;

export const isHotplugged = ({ dataVolume, persistentVolumeClaim }: Volume): boolean =>
  Boolean(dataVolume?.hotpluggable ?? persistentVolumeClaim?.hotpluggable);

/** The effect of a changed template on the running VMI. */
export interface LiveUpdate {
  /** The reason why the VM must be restarted first; then nothing is applied. */
  restartRequired?: string;
  /** Applies the change to the VMI. */
  apply?: (vmi: VirtualMachineInstance) => void;
}

/** The generation of the VM from which the running VMI was created, or to which it was updated. */
export const observedGeneration = (vmi: VirtualMachineInstance): number =>
  Number(vmi.metadata.annotations?.['kubevirt.io/vm-generation'] ?? 0);

/** Compares a VM with its VMI and finds the changes that apply to a running guest (KubeVirt's rollout strategy LiveUpdate). */
export function planLiveUpdate(
  context: SimulationContext,
  vm: VirtualMachine,
  vmi: VirtualMachineInstance,
): LiveUpdate {
  const wanted = buildInstance(context, vm, '').spec;
  const actual = vmi.spec;
  const configured = context.kubevirt?.spec.configuration?.vmRolloutStrategy;
  const rollout = configured ?? (context.release.since('1.6') ? 'LiveUpdate' : 'Stage');

  if (!deepEqual(frozenPart(context, wanted), frozenPart(context, actual))) {
    return { restartRequired: 'a non-live-updatable field was changed in the template spec' };
  }
  if (deepEqual(livePart(wanted), livePart(actual))) return { apply: () => undefined };
  if (rollout !== 'LiveUpdate')
    return { restartRequired: 'a non-live-updatable field was changed in the template spec' };

  const restartRequired = cpuObstacle(wanted, actual) ?? memoryObstacle(wanted, vmi);
  if (restartRequired) return { restartRequired };
  return { apply: (draft) => applyLive(context, wanted, draft) };
}

/** The fields that need a restart. */
function frozenPart(context: SimulationContext, spec: VmiSpec): unknown {
  const part = deepCopy(spec) as VmiSpec;
  const { domain } = part;
  delete part.nodeSelector;
  delete part.affinity;
  delete part.tolerations;
  delete part.startStrategy;
  delete part.terminationGracePeriodSeconds;
  for (const field of ['sockets', 'maxSockets'] as const) delete domain.cpu?.[field];
  for (const field of ['guest', 'maxGuest'] as const) delete domain.memory?.[field];
  delete domain.firmware;
  delete domain.devices.interfaces;
  delete part.networks;
  if (context.gates.hotplug === 'off') return part;
  const plugged = new Set((part.volumes ?? []).filter(isHotplugged).map(({ name }) => name));
  part.volumes = part.volumes?.filter(({ name }) => !plugged.has(name)) ?? [];
  domain.devices.disks = domain.devices.disks?.filter(({ name }) => !plugged.has(name)) ?? [];
  return part;
}

function livePart({ nodeSelector, affinity, tolerations, domain, networks, volumes }: VmiSpec): unknown {
  return {
    nodeSelector,
    affinity,
    tolerations,
    sockets: domain.cpu?.sockets,
    guest: domain.memory?.guest,
    interfaces: domain.devices.interfaces,
    networks,
    hotplugged: volumes?.filter(isHotplugged),
  };
}

function cpuObstacle(wanted: VmiSpec, actual: VmiSpec): string | undefined {
  const { sockets = 1, maxSockets = sockets } = actual.domain.cpu ?? {};
  const asked = wanted.domain.cpu?.sockets ?? 1;
  if (asked > maxSockets) return "CPU sockets updated in template spec to a value higher than what's available";
  if (asked < sockets) return 'Reduction of CPU socket count requires a restart';
  return undefined;
}

function memoryObstacle(wanted: VmiSpec, { spec, status }: VirtualMachineInstance): string | undefined {
  const asked = quantityValue(wanted.domain.memory?.guest);
  const present = quantityValue(spec.domain.memory?.guest);
  if (asked === present || Number.isNaN(asked)) return undefined;
  if (!isTrue(status?.conditions, 'LiveMigratable')) {
    return 'memory updated in template spec. Memory-hotplug is only available for migratable VMs';
  }
  const failed = findCondition(status?.conditions, 'HotMemoryChange')?.status === 'False';
  if (failed) {
    return 'memory updated in template spec. Memory-hotplug failed and is not available for this VM configuration';
  }
  const atBoot = quantityValue(status?.memory?.guestAtBoot ?? spec.domain.memory?.guest);
  if (atBoot < GIB || asked % PAGE !== 0 || !spec.domain.memory?.maxGuest) {
    return 'memory updated in template spec. Memory-hotplug is not available for this VM configuration';
  }
  if (asked < atBoot) return 'memory updated in template spec to a value lower than what the VM started with';
  if (asked > quantityValue(spec.domain.memory.maxGuest)) {
    return "memory updated in template spec to a value higher than what's available";
  }
  return undefined;
}

function applyLive(context: SimulationContext, wanted: VmiSpec, vmi: VirtualMachineInstance): void {
  const { spec } = vmi;
  const status = (vmi.status ??= {});
  const conditions = (status.conditions ??= []);
  const now = context.clock.timestamp();
  for (const field of ['nodeSelector', 'affinity', 'tolerations'] as const) {
    if (wanted[field] === undefined) delete spec[field];
    else Object.assign(spec, { [field]: deepCopy(wanted[field]) });
  }
  if (wanted.domain.cpu!.sockets !== spec.domain.cpu!.sockets) {
    spec.domain.cpu!.sockets = wanted.domain.cpu!.sockets;
    setCondition(conditions, { type: 'HotVCPUChange', status: 'True' }, now);
  }
  if (wanted.domain.memory?.guest && wanted.domain.memory.guest !== spec.domain.memory?.guest) {
    spec.domain.memory!.guest = wanted.domain.memory.guest;
    status.memory = { ...status.memory, guestRequested: wanted.domain.memory.guest };
    setCondition(conditions, { type: 'HotMemoryChange', status: 'True' }, now);
  }
  applyNetworkChange(wanted, vmi, now);
  if (context.gates.hotplug === 'declarative') applyHotplugVolumes(wanted, spec);
}

/** A NIC that was added or removed waits for a migration, which plugs it. */
function applyNetworkChange(wanted: VmiSpec, { spec, status }: VirtualMachineInstance, now: string): void {
  const before = { interfaces: spec.domain.devices.interfaces, networks: spec.networks };
  const after = { interfaces: wanted.domain.devices.interfaces, networks: wanted.networks };
  if (deepEqual(before, after)) return;
  spec.domain.devices.interfaces = deepCopy(after.interfaces);
  spec.networks = deepCopy(after.networks);
  setCondition(
    status!.conditions!,
    { type: 'MigrationRequired', status: 'False', reason: 'AutoMigrationPending' },
    now,
  );
}

function applyHotplugVolumes(wanted: VmiSpec, spec: VmiSpec): void {
  const plugged = (wanted.volumes ?? []).filter(isHotplugged);
  const names = new Set([...plugged, ...(spec.volumes ?? []).filter(isHotplugged)].map(({ name }) => name));
  const disks = (wanted.domain.devices.disks ?? []).filter(({ name }) => names.has(name));
  spec.volumes = [...(spec.volumes ?? []).filter((volume) => !isHotplugged(volume)), ...deepCopy(plugged)];
  spec.domain.devices.disks = [
    ...(spec.domain.devices.disks ?? []).filter(({ name }) => !names.has(name)),
    ...deepCopy(disks),
  ];
}
