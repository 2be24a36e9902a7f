import {
  changedPlacement,
  describePlacementChange,
  formatBytes,
  noChange,
  parseMillicores,
  refusal,
  refusedChange,
  type DedicatedCpus,
  type Placement,
  type Refusal,
  type SetPlacementChange,
} from '@headgate/domain-contracts';
import type { GuestCpu, GuestSpec, NodeObject } from '../api/object-types.js';
import { NODES } from '../api/resources.js';
import { topologyOf } from '../host-resources/kube-host-resources.js';
import { effectOf } from './live-changes.js';
import { patchedChange } from './patched-change.js';
import { replaceIfSame, VM_PATHS, type PlannedPatch } from './planned-change.js';
import { readPlacement } from '../inventory/read-placement.js';
import { uidTest } from './scale.js';
import type { HardwareDeps, VmState } from './vm-hardware.js';

/** KubeVirt builds the launcher's pod for a placement, so that a running VM needs a restart. */
export async function planPlacement(
  deps: HardwareDeps,
  state: VmState,
  change: SetPlacementChange,
): Promise<PlannedPatch> {
  const { ref, spec, vm, vmi } = state;
  const before = readPlacement(spec);
  const after = changedPlacement(before, change);
  const refusals = await placementRefusals(deps, state, change, after);
  if (refusals.length > 0) return refusedChange(...refusals);
  if (JSON.stringify(before) === JSON.stringify(after)) return noChange;
  const effect = effectOf(state, change);
  const { cpu, memory } = spec.domain ?? {};
  const patch = [
    uidTest(vm.metadata.uid),
    ...(change.dedicated ? replaceIfSame(VM_PATHS.cpu, cpu, cpuOf(cpu, after.dedicated)) : []),
    ...(change.hugepageBytes === undefined
      ? []
      : replaceIfSame(VM_PATHS.memory, memory, memoryOf(memory, after.hugepageBytes))),
  ];
  const steps = [
    { name: 'place', detail: `${ref.name}: ${describePlacementChange(change)}.` },
    ...(effect === 'restart' ? [{ name: 'restart', detail: `Shut down ${ref.name} and start it again.` }] : []),
  ];
  const warnings =
    effect === 'next-start' && vmi ? ['The running VM keeps its placement until it is started again.'] : [];
  return patchedChange(deps, state, { effect, steps, warnings, patch });
}

/** Fields that this service does not know stay as they are. */
function cpuOf(cpu: GuestCpu | undefined, dedicated: DedicatedCpus | null): GuestCpu {
  const { dedicatedCpuPlacement: _on, isolateEmulatorThread: _isolated, numa: _numa, ...rest } = cpu ?? {};
  return {
    ...rest,
    ...(dedicated?.isOn && { dedicatedCpuPlacement: true }),
    ...(dedicated?.isolatesEmulator && { isolateEmulatorThread: true }),
    ...(dedicated?.passesNuma && { numa: { guestMappingPassthrough: {} } }),
  };
}

type GuestMemory = NonNullable<NonNullable<GuestSpec['domain']>['memory']>;

function memoryOf(memory: GuestMemory | undefined, hugepageBytes: number | null): GuestMemory {
  const { hugepages: _pages, ...rest } = memory ?? {};
  return { ...rest, ...(hugepageBytes !== null && { hugepages: { pageSize: formatBytes(hugepageBytes) } }) };
}

async function placementRefusals(
  { api }: HardwareDeps,
  { ref, vm, spec, size }: VmState,
  change: SetPlacementChange,
  { dedicated, hugepageBytes }: Placement,
): Promise<Refusal[]> {
  if (change.pinning) {
    const reason = 'pinning: the nodes of a cluster choose the CPUs of a VM themselves.';
    return [refusal('NOT_SUPPORTED', reason, 'Use dedicated to reserve CPUs for the VM.')];
  }
  const type = vm.spec?.instancetype?.name;
  if (type !== undefined) {
    const reason = `${ref.name} has the CPUs and the memory of its instancetype ${type}.`;
    return [refusal('WRONG_STATE', reason, 'Choose another instancetype in the VM with kubectl.')];
  }
  const nodes = await api.list<NodeObject>(NODES);
  return [
    ...(dedicated && change.dedicated ? dedicatedRefusals(dedicated, hugepageBytes, { nodes, ref, spec, cpu: size.cpu }) : []), // prettier-ignore
    ...(change.hugepageBytes === undefined
      ? []
      : pageRefusals(hugepageBytes, dedicated, { nodes, name: ref.name, memoryBytes: size.memoryBytes })),
  ];
}

interface CpuRequest {
  readonly nodes: readonly NodeObject[];
  readonly ref: VmState['ref'];
  readonly spec: GuestSpec;
  readonly cpu: number;
}

function dedicatedRefusals(
  { isOn, isolatesEmulator, passesNuma }: DedicatedCpus,
  hugepageBytes: number | null,
  { nodes, ref, spec, cpu }: CpuRequest,
): Refusal[] {
  const refusals: Refusal[] = [];
  if (!isOn && (isolatesEmulator || passesNuma)) {
    const what = isolatesEmulator ? 'isolateEmulator' : 'numa';
    const reason = `dedicated.${what} needs CPUs that are reserved for ${ref.name}.`;
    refusals.push(refusal('INVALID_INPUT', reason, `Set dedicated.on to true, or dedicated.${what} to false.`));
  }
  if (passesNuma && hugepageBytes === null) {
    const reason = `dedicated.numa: KubeVirt shows NUMA nodes only to VMs whose memory is in hugepages, and that of ${ref.name} is not.`;
    refusals.push(refusal('INVALID_INPUT', reason, 'Set hugepages as well, such as to 2Mi.'));
  }
  if (!isOn || refusals.length > 0) return refusals;
  const { threads = 1 } = spec.domain?.cpu ?? {};
  if (threads > 2) {
    const reason = `dedicated: ${ref.name} has cores of ${threads} threads, and reserved CPUs have at most two.`;
    return [refusal('WRONG_STATE', reason, 'Change its topology with kubectl.')];
  }
  const reserving = nodes.filter((node) => topologyOf(node).reservesCpus);
  if (reserving.length === 0) {
    const remedy =
      "Set the kubelet's CPU manager policy to static, and enable KubeVirt's feature gate CPUManager, which labels such nodes with cpumanager=true.";
    return [refusal('WRONG_STATE', 'dedicated: no node of the cluster reserves CPUs for single VMs.', remedy)];
  }
  const needed = cpu + (isolatesEmulator ? 1 : 0);
  const largest = Math.max(
    ...reserving.map(({ status }) => parseMillicores(status?.allocatable?.['cpu'] ?? '0') / 1000),
  );
  if (largest >= needed) return [];
  const reason = `dedicated: ${ref.name} needs ${needed} CPUs of its own, and the largest node that reserves CPUs has ${Math.floor(largest)}.`;
  return [refusal('WRONG_STATE', reason, 'Scale the VM down first, or add a larger node.')];
}

interface PageRequest {
  readonly nodes: readonly NodeObject[];
  readonly name: string;
  readonly memoryBytes: number;
}

function pageRefusals(
  hugepageBytes: number | null,
  dedicated: DedicatedCpus | null,
  { nodes, name, memoryBytes }: PageRequest,
): Refusal[] {
  if (hugepageBytes === null) {
    if (dedicated?.passesNuma !== true) return [];
    const reason = `hugepages: KubeVirt shows NUMA nodes only to VMs whose memory is in hugepages, and ${name} has them.`;
    return [refusal('INVALID_INPUT', reason, 'Set dedicated.numa to false as well.')];
  }
  const size = formatBytes(hugepageBytes);
  const pools = nodes.flatMap((node) => topologyOf(node).hugepages);
  const sizes = [...new Set(pools.map(({ pageBytes }) => formatBytes(pageBytes)))];
  if (!sizes.includes(size)) {
    const choice = sizes.length === 0 ? 'none' : sizes.join(' and ');
    return [
      refusal(
        'INVALID_QUANTITY',
        `hugepages: no node has pages of ${size}: they have ${choice}.`,
        sizes.length === 0 ? 'Use null for ordinary pages.' : `Use ${sizes.join(' or ')}, or null for ordinary pages.`,
      ),
    ];
  }
  if (memoryBytes % hugepageBytes !== 0) {
    const reason = `hugepages: the memory of ${name} (${formatBytes(memoryBytes)}) is not a multiple of the page size ${size}.`;
    return [refusal('INVALID_QUANTITY', reason, 'Scale its memory first, or use smaller pages.')];
  }
  const pages = memoryBytes / hugepageBytes;
  const most = Math.max(...pools.filter(({ pageBytes }) => pageBytes === hugepageBytes).map(({ total }) => total));
  if (most >= pages) return [];
  return [
    refusal(
      'WRONG_STATE',
      `hugepages: ${name} needs ${pages} pages of ${size}, and no node has more than ${most}.`,
      `Reserve them on a node, for instance with the kernel arguments hugepagesz=${size.slice(0, -1)} hugepages=${pages}, and restart its kubelet.`,
    ),
  ];
}
