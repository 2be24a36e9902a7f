import { formatCpuSet, parseCpuSet } from '../values/cpu-set.js';
import { DomainError } from '../values/domain-error.js';
import { formatBytes } from '../values/quantity.js';
import type { HostTopology, HugepagePool } from './host-resources.js';
import {
  MEMORY_NODE_MODES,
  type CpuPinning,
  type GuestCell,
  type MemoryNodes,
  type Placement,
  type SetPlacementChange,
} from './placement.js';
import { refusal, type Refusal } from './plan.js';

/** A VM and the host on which it is placed. */
export interface PlacementLimits {
  readonly name: string;
  /** The number of CPUs up to which the VM can grow. */
  readonly maxCpu: number;
  readonly memoryBytes: number;
  readonly host: HostTopology;
}

/** The placement after a change. */
export function changedPlacement(present: Placement, change: SetPlacementChange): Placement {
  const { dedicated, pinning, hugepageBytes } = change;
  return {
    dedicated: present.dedicated && { ...present.dedicated, ...dedicated },
    pinning: present.pinning && { ...present.pinning, ...pinning },
    hugepageBytes: hugepageBytes === undefined ? present.hugepageBytes : hugepageBytes,
  };
}

/** Values that are impossible on the host or in the VM. */
export function pinningRefusals(
  { vcpus, emulatorCpus, memory, cells }: Partial<CpuPinning>,
  limits: PlacementLimits,
): Refusal[] {
  return [
    ...vcpuRefusals(vcpus ?? [], limits),
    ...(emulatorCpus === undefined || emulatorCpus === ''
      ? []
      : hostCpuRefusals(emulatorCpus, 'pinning.emulatorCpus', limits.host)),
    ...(memory ? memoryRefusals(memory, limits) : []),
    ...(cells === undefined || cells.length === 0 ? [] : cellRefusals(cells, limits)),
  ];
}

const invalid = (reason: string, remedy: string): Refusal => refusal('INVALID_INPUT', reason, remedy);

function vcpuRefusals(pins: CpuPinning['vcpus'], { name, maxCpu, host }: PlacementLimits): Refusal[] {
  const refusals: Refusal[] = [];
  const seen = new Set<number>();
  for (const { vcpu, cpus } of pins) {
    if (!Number.isInteger(vcpu) || vcpu < 0 || vcpu >= maxCpu) {
      refusals.push(
        invalid(
          `pinning.vcpus: ${name} has the CPUs ${formatCpuSet([...Array(maxCpu).keys()])}, but no CPU ${vcpu}.`,
          'Name one of its CPUs.',
        ),
      );
    } else if (seen.has(vcpu)) {
      refusals.push(invalid(`pinning.vcpus: CPU ${vcpu} is named twice.`, 'Name each CPU once.'));
    }
    seen.add(vcpu);
    refusals.push(...hostCpuRefusals(cpus, `pinning.vcpus: the CPUs for CPU ${vcpu}`, host));
  }
  return refusals;
}

function hostCpuRefusals(text: string, field: string, { node, cpus, offlineCpus }: HostTopology): Refusal[] {
  const wanted = numbersOf(text, field);
  if ('code' in wanted) return [wanted];
  const [online, offline] = [setOf(cpus), setOf(offlineCpus)];
  const asleep = wanted.numbers.filter((cpu) => offline.has(cpu));
  const missing = wanted.numbers.filter((cpu) => !online.has(cpu) && !offline.has(cpu));
  return [
    ...(missing.length === 0
      ? []
      : [invalid(`${field}: ${node} has no CPU ${formatCpuSet(missing)}.`, `Use CPUs among ${cpus}.`)]),
    ...(asleep.length === 0
      ? []
      : [
          invalid(
            `${field}: CPU ${formatCpuSet(asleep)} of ${node} is offline.`,
            `Use CPUs among ${cpus}, or bring it online.`,
          ),
        ]),
  ];
}

function memoryRefusals({ mode, nodes }: MemoryNodes, { name, memoryBytes, host }: PlacementLimits): Refusal[] {
  if (!(MEMORY_NODE_MODES as readonly string[]).includes(mode)) {
    return [
      invalid(`pinning.memory.mode must be one of ${MEMORY_NODE_MODES.join(', ')}, not ${mode}.`, 'Use one of them.'),
    ];
  }
  const wanted = numbersOf(nodes, 'pinning.memory.nodes');
  if ('code' in wanted) return [wanted];
  const present = host.numaNodes.map(({ id }) => id);
  const missing = wanted.numbers.filter((id) => !present.includes(id));
  if (missing.length > 0) {
    return [
      invalid(
        `pinning.memory.nodes: ${host.node} has no NUMA node ${formatCpuSet(missing)}.`,
        `Use nodes among ${formatCpuSet(present)}.`,
      ),
    ];
  }
  if (mode === 'preferred' && wanted.numbers.length !== 1) {
    return [invalid('pinning.memory.nodes: only one node can be preferred.', 'Name one node, or use another mode.')];
  }
  const bytes = host.numaNodes
    .filter(({ id }) => wanted.numbers.includes(id))
    .reduce((total, node) => total + node.memoryBytes, 0);
  if (mode !== 'strict' || bytes >= memoryBytes) return [];
  return [
    refusal(
      'INVALID_QUANTITY',
      `pinning.memory: ${name} has ${formatBytes(memoryBytes)} of memory, and the NUMA nodes ${nodes} of ${host.node} have ${formatBytes(bytes)}.`,
      'Name more nodes, or use the mode preferred.',
    ),
  ];
}

function cellRefusals(cells: readonly GuestCell[], { name, maxCpu, memoryBytes }: PlacementLimits): Refusal[] {
  const refusals: Refusal[] = [];
  const owners = new Map<number, number>();
  cells.forEach(({ cpus }, index) => {
    const field = `pinning.cells: the CPUs of NUMA node ${index}`;
    const wanted = numbersOf(cpus, field);
    if ('code' in wanted) return void refusals.push(wanted);
    const missing = wanted.numbers.filter((cpu) => cpu >= maxCpu);
    const shared = wanted.numbers.filter((cpu) => owners.has(cpu));
    if (missing.length > 0) {
      refusals.push(
        invalid(`${field}: ${name} has no CPU ${formatCpuSet(missing)}.`, `Use CPUs from 0 to ${maxCpu - 1}.`),
      );
    }
    if (shared.length > 0) {
      const other = owners.get(shared[0] ?? 0) ?? 0;
      refusals.push(
        invalid(
          `${field}: CPU ${formatCpuSet(shared)} is in NUMA node ${other} already.`,
          'Put each CPU into one node.',
        ),
      );
    }
    for (const cpu of wanted.numbers) owners.set(cpu, owners.get(cpu) ?? index);
  });
  const left = [...Array(maxCpu).keys()].filter((cpu) => !owners.has(cpu));
  if (refusals.length === 0 && left.length > 0) {
    refusals.push(
      invalid(
        `pinning.cells: CPU ${formatCpuSet(left)} of ${name} is in no NUMA node.`,
        `Put each CPU from 0 to ${maxCpu - 1} into a node: those that can be added later count too.`,
      ),
    );
  }
  const bytes = cells.reduce((total, cell) => total + cell.memoryBytes, 0);
  if (bytes !== memoryBytes) {
    refusals.push(
      refusal(
        'INVALID_QUANTITY',
        `pinning.cells: the NUMA nodes have ${formatBytes(bytes)} of memory together, and ${name} has ${formatBytes(memoryBytes)}.`,
        `Divide ${formatBytes(memoryBytes)} among them.`,
      ),
    );
  }
  return refusals;
}

/**
 * Why the memory of a VM can't be backed by the pages of a placement.
 * @param isStarting whether the pages are needed immediately; otherwise it is enough that the host has reserved them
 */
export function hugepageRefusals(
  { hugepageBytes, pinning }: Placement,
  { name, memoryBytes, host }: PlacementLimits,
  isStarting: boolean,
): Refusal[] {
  if (hugepageBytes === null) return [];
  const sizes = host.hugepages.map(({ pageBytes }) => formatBytes(pageBytes));
  const size = formatBytes(hugepageBytes);
  if (!sizes.includes(size)) {
    return [
      refusal(
        'INVALID_QUANTITY',
        `hugepages: ${host.node} has no pages of ${size}: it has ${sizes.length === 0 ? 'none' : sizes.join(' and ')}.`,
        sizes.length === 0 ? 'Use null for ordinary pages.' : `Use ${sizes.join(' or ')}, or null for ordinary pages.`,
      ),
    ];
  }
  const uneven = [memoryBytes, ...(pinning?.cells ?? []).map((cell) => cell.memoryBytes)].find(
    (bytes) => bytes % hugepageBytes !== 0,
  );
  if (uneven !== undefined) {
    return [
      refusal(
        'INVALID_QUANTITY',
        `hugepages: ${formatBytes(uneven)} of memory of ${name} is not a multiple of the page size ${size}.`,
        'Scale its memory first, or use smaller pages.',
      ),
    ];
  }
  const pages = memoryBytes / hugepageBytes;
  const { total, free } = poolOf(host, pinning?.memory ?? null, hugepageBytes);
  const available = isStarting ? (free ?? total) : total;
  if (available >= pages) return [];
  const state = isStarting && total >= pages ? 'free' : 'reserved';
  return [
    refusal(
      'WRONG_STATE',
      `hugepages: ${name} needs ${pages} pages of ${size}, and ${host.node} has ${available} ${state}.`,
      `Reserve them on ${host.node}: \`sysctl vm.nr_hugepages\` for pages of the default size, or the kernel arguments hugepagesz=${size.slice(0, -1)} hugepages=${pages}.`,
    ),
  ];
}

/** A warning if other VMs occupy the pages that the VM needs when it is started. */
export function hugepageWarnings(placement: Placement, { name, memoryBytes, host }: PlacementLimits): string[] {
  const { hugepageBytes, pinning } = placement;
  if (hugepageBytes === null) return [];
  const pages = memoryBytes / hugepageBytes;
  const { free } = poolOf(host, pinning?.memory ?? null, hugepageBytes);
  if (free === null || free >= pages) return [];
  return [
    `${host.node} has ${free} free pages of ${formatBytes(hugepageBytes)} now, and ${name} needs ${pages} when it is started.`,
  ];
}

/** The pages on the NUMA nodes from which the VM takes its memory. */
function poolOf(host: HostTopology, memory: MemoryNodes | null, pageBytes: number): HugepagePool {
  const isSize = (pool: HugepagePool): boolean => pool.pageBytes === pageBytes;
  const whole = host.hugepages.find(isSize) ?? { pageBytes, total: 0, free: 0 };
  if (memory?.mode !== 'strict' || memory.nodes === 'auto') return whole;
  const nodes = setOf(memory.nodes);
  const pools = host.numaNodes.filter(({ id }) => nodes.has(id)).flatMap(({ hugepages }) => hugepages.filter(isSize));
  if (pools.length === 0) return whole;
  return {
    pageBytes,
    total: pools.reduce((sum, { total }) => sum + total, 0),
    free: pools.reduce<number | null>((sum, { free }) => (sum === null || free === null ? null : sum + free), 0),
  };
}

function numbersOf(text: string, field: string): { readonly numbers: number[] } | Refusal {
  try {
    return { numbers: parseCpuSet(text, field) };
  } catch (error) {
    if (!DomainError.is(error)) throw error;
    return invalid(error.message, 'Use a list such as 0-3,8.');
  }
}

/** A list that a backend has reported; empty for other text. */
function setOf(text: string): Set<number> {
  const numbers = numbersOf(text, '');
  return new Set('code' in numbers ? [] : numbers.numbers);
}
