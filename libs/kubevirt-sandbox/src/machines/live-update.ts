import { deepCopy, deepEqual } from '@headgate/kube-sandbox';
import { GIB, quantityValue } from '../quantity.js';
import { findCondition, isTrue, setCondition } from '../types/condition.js';
import type { VirtualMachineInstance, VmiSpec, Volume } from '../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import type { SimulationContext } from '../simulation-context.js';
import { hotplugDiskProblem, MIGRATING } from './hotplug-rules.js';
import { buildInstance } from './instance-builder.js';
import { expandedSpec } from './instancetype-expansion.js';
import { isMigrating } from './printable-status.js';
import { specAtStart } from './start-revision.js';
import { claimNameOf } from './volume-snapshot-statuses.js';

const PAGE = 2 ** 21;
const CHANGED = 'a non-live-updatable field was changed in the template spec';

export const isHotplugged = ({ dataVolume, persistentVolumeClaim }: Volume): boolean =>
  Boolean(dataVolume?.hotpluggable ?? persistentVolumeClaim?.hotpluggable);

/** The effect of a changed template on the running VMI. */
export interface LiveUpdate {
  /** The reason why the VM must be restarted first; then nothing is applied. */
  restartRequired?: string;
  /** The reason why the change can't be applied at the moment. */
  failure?: { reason: string; message: string };
  /** Applies the change to the VMI. */
  apply?: (vmi: VirtualMachineInstance) => void;
}

/** The generation of the VM from which the running VMI was created, or to which it was updated. */
export const observedGeneration = (vmi: VirtualMachineInstance): number =>
  Number(vmi.metadata.annotations?.['kubevirt.io/vm-generation'] ?? 0);

/** Finds the changes of a VM that apply to its running guest, and those that need a restart. */
export function planLiveUpdate(
  context: SimulationContext,
  vm: VirtualMachine,
  vmi: VirtualMachineInstance,
): LiveUpdate {
  const isLive = rollsOutLive(context);
  if (needsRestart(context, vm, vmi, isLive)) return { restartRequired: CHANGED };
  const wanted = buildInstance(context, vm, '').spec;
  // KubeVirt plugs no volumes while the claims of a VM change by migrations.
  const plugsVolumes = context.gates.hotplug === 'declarative' && vm.spec.updateVolumesStrategy !== 'Migration';
  const failure = plugsVolumes ? volumeObstacle(context, wanted, vmi) : undefined;
  if (failure) return { failure };
  const apply = (draft: VirtualMachineInstance): void => {
    applyLive(context, wanted, draft, isLive);
    if (plugsVolumes) applyHotplugVolumes(wanted, draft.spec);
  };
  if (!isLive) return { apply };
  const obstacle = cpuObstacle(wanted, vmi) ?? memoryObstacle(wanted, vmi);
  if (typeof obstacle === 'string') return { restartRequired: obstacle };
  return obstacle ? { failure: obstacle } : { apply };
}

export function rollsOutLive({ release, gates, kubevirt }: SimulationContext): boolean {
  const strategy = kubevirt?.spec.configuration?.vmRolloutStrategy ?? (release.since('1.6') ? 'LiveUpdate' : 'Stage');
  return strategy === 'LiveUpdate' && gates.isOn('VMLiveUpdateFeatures');
}

/**
 * Compares the template with the one at the start of the guest, except for the fields that can change while it runs.
 */
function needsRestart(
  context: SimulationContext,
  vm: VirtualMachine,
  vmi: VirtualMachineInstance,
  isLive: boolean,
): boolean {
  const started = specAtStart(context, vmi);
  if (!started) return false;
  const before = expandedSpec(context, { ...vm, spec: started });
  const after = expandedSpec(context, vm);
  if (vm.spec.updateVolumesStrategy === 'Migration') exemptClaims(before, after);
  exemptVolumes(context, before, after, vmi);
  if (context.gates.isOn('HotplugNICs') && areNicsPluggable(context, before, after)) {
    before.networks = after.networks;
    before.domain.devices.interfaces = after.domain.devices.interfaces;
  }
  if (isLive) {
    for (const field of ['nodeSelector', 'affinity', 'tolerations'] as const)
      Object.assign(before, { [field]: after[field] });
    if (before.domain.cpu && after.domain.cpu) before.domain.cpu.sockets = after.domain.cpu.sockets;
    if (before.domain.memory && after.domain.memory) before.domain.memory.guest = after.domain.memory.guest;
  }
  return !deepEqual(before, after);
}

/**
 * Removes hot-plugged volumes from both specs, on drafts. Without the declarative gate only those that were requested
 * count.
 */
function exemptVolumes(
  context: SimulationContext,
  before: VmiSpec,
  after: VmiSpec,
  { spec }: VirtualMachineInstance,
): void {
  const { hotplug } = context.gates;
  if (hotplug === 'off') return;
  const known = new Set([...(spec.volumes ?? []), ...(before.volumes ?? [])].map(({ name }) => name));
  const exempt = new Set(
    [...(before.volumes ?? []), ...(after.volumes ?? [])]
      .filter(isHotplugged)
      .map(({ name }) => name)
      .filter((name) => hotplug === 'declarative' || known.has(name)),
  );
  for (const part of [before, after]) {
    part.volumes = part.volumes?.filter(({ name }) => !exempt.has(name)) ?? [];
    part.domain.devices.disks = part.domain.devices.disks?.filter(({ name }) => !exempt.has(name)) ?? [];
  }
}

/** The claims of volumes may change while the guest runs, on a draft: a migration copies their disks. */
function exemptClaims(before: VmiSpec, after: VmiSpec): void {
  before.volumes = before.volumes?.map((volume) => {
    const wanted = after.volumes?.find(({ name }) => name === volume.name);
    return wanted && claimNameOf(wanted) !== undefined ? wanted : volume;
  });
}

/** NICs may be added and removed, and their link may change. Another network needs a gate, anything else a restart. */
function areNicsPluggable(context: SimulationContext, before: VmiSpec, after: VmiSpec): boolean {
  const networks = new Map(before.networks?.map((network) => [network.name, network]));
  const cards = new Map(before.domain.devices.interfaces?.map((card) => [card.name, card]));
  const isSameCard = after.domain.devices.interfaces?.every((card) => {
    const known = cards.get(card.name);
    return !known || deepEqual({ ...known, state: undefined }, { ...card, state: undefined });
  });
  const isSameNetwork = after.networks?.every((network) => {
    const known = networks.get(network.name);
    return !known || deepEqual(known, network) || (known.multus && context.gates.isOn('LiveUpdateNADRef'));
  });
  return isSameCard !== false && isSameNetwork !== false;
}

type Obstacle = string | { reason: string; message: string } | undefined;

function cpuObstacle(wanted: VmiSpec, vmi: VirtualMachineInstance): Obstacle {
  const { sockets = 1, maxSockets = sockets } = vmi.spec.domain.cpu ?? {};
  const asked = wanted.domain.cpu?.sockets ?? 1;
  if (asked === sockets) return undefined;
  if (wanted.architecture === 'arm64') return "ARM doesn't support CPU hotplug";
  const busy = findCondition(vmi.status?.conditions, 'HotVCPUChange')
    ? 'another CPU hotplug is in progress'
    : isMigrating(vmi) && 'CPU hotplug is not allowed while VMI is migrating';
  if (busy) {
    const message = `error encountered while handling CPU change request: ${busy}`;
    return { reason: 'HotPlugCPUError', message };
  }
  if (asked > maxSockets) return "CPU sockets updated in template spec to a value higher than what's available";
  if (asked < sockets) return 'Reduction of CPU socket count requires a restart';
  return undefined;
}

function memoryObstacle(wanted: VmiSpec, vmi: VirtualMachineInstance): Obstacle {
  const { spec, status } = vmi;
  const asked = quantityValue(wanted.domain.memory?.guest);
  const present = quantityValue(spec.domain.memory?.guest);
  if (asked === present || Number.isNaN(asked)) return undefined;
  if (!isTrue(status?.conditions, 'LiveMigratable')) {
    return 'memory updated in template spec. Memory-hotplug is only available for migratable VMs';
  }
  const change = findCondition(status?.conditions, 'HotMemoryChange');
  if (change?.status === 'False') {
    return 'memory updated in template spec. Memory-hotplug failed and is not available for this VM configuration';
  }
  const atBoot = quantityValue(status?.memory?.guestAtBoot ?? spec.domain.memory?.guest);
  if (atBoot < GIB || asked % PAGE !== 0 || !spec.domain.memory?.maxGuest) {
    return 'memory updated in template spec. Memory-hotplug is not available for this VM configuration';
  }
  const busy = change
    ? 'another memory hotplug is in progress'
    : isMigrating(vmi) && 'memory hotplug is not allowed while VMI is migrating';
  if (busy) {
    const message = `error encountered while handling memory hotplug requests: ${busy}`;
    return { reason: 'HotPlugMemoryError', message };
  }
  if (asked < atBoot) return 'memory updated in template spec to a value lower than what the VM started with';
  if (asked > quantityValue(spec.domain.memory.maxGuest)) {
    return "memory updated in template spec to a value higher than what's available";
  }
  return undefined;
}

/**
 * Why a volume can't be plugged. Without the declarative gate, the volumes of a running guest change on request only.
 */
function volumeObstacle(
  context: SimulationContext,
  wanted: VmiSpec,
  vmi: VirtualMachineInstance,
): { reason: string; message: string } | undefined {
  const present = new Set(vmi.spec.volumes?.map(({ name }) => name));
  const plugged = (wanted.volumes ?? []).filter(isHotplugged);
  const added = plugged.filter(({ name }) => !present.has(name));
  const removed = (vmi.spec.volumes ?? []).filter(
    (volume) => isHotplugged(volume) && !plugged.some(({ name }) => name === volume.name),
  );
  if (added.length + removed.length === 0) return undefined;
  const [problem] = added.flatMap(({ name }) => {
    const disk = wanted.domain.devices.disks?.find((each) => each.name === name);
    return hotplugDiskProblem(context, disk, name, 'Hotplug configuration') ?? [];
  });
  const why = problem ?? (isMigrating(vmi) ? MIGRATING : undefined);
  if (!why) return undefined;
  const message = `error encountered while handling volume hotplug requests: ${why}`;
  return { reason: 'HotPlugVolumeError', message };
}

function applyLive(context: SimulationContext, wanted: VmiSpec, vmi: VirtualMachineInstance, isLive: boolean): void {
  const { spec } = vmi;
  const status = (vmi.status ??= {});
  const conditions = (status.conditions ??= []);
  const now = context.clock.timestamp();
  if (context.gates.isOn('HotplugNICs')) applyNetworkChange(wanted, vmi, now);
  if (!isLive) return;
  for (const field of ['nodeSelector', 'affinity', 'tolerations'] as const) {
    if (wanted[field] === undefined) delete spec[field];
    else Object.assign(spec, { [field]: deepCopy(wanted[field]) });
  }
  if (wanted.domain.cpu!.sockets !== spec.domain.cpu!.sockets) {
    spec.domain.cpu!.sockets = wanted.domain.cpu!.sockets;
    setCondition(conditions, { type: 'HotVCPUChange', status: 'True' }, now);
  }
  const { guest } = wanted.domain.memory ?? {};
  if (guest && quantityValue(guest) !== quantityValue(spec.domain.memory?.guest)) {
    spec.domain.memory!.guest = guest;
    status.memory = { ...status.memory, guestRequested: guest };
    setCondition(conditions, { type: 'HotMemoryChange', status: 'True' }, now);
  }
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
