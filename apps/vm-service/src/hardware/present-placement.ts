import type {
  HostDeviceView,
  HostTopologyView,
  HugepagePoolView,
  PlacementDto,
  PlacementView,
} from '@headgate/api-contracts';
import {
  definedFields,
  formatBytes,
  parseMemory,
  parseSize,
  type HostDevice,
  type HostTopology,
  type HugepagePool,
  type Placement,
  type SetPlacementChange,
} from '@headgate/domain-contracts';

/** A page size is never rounded: a host has pages of it, or it has not. */
const PAGE_RULE = { minBytes: 1024 ** 2, maxBytes: 64 * 1024 ** 3, stepBytes: 1 };

/** The settings of a request. */
export function placementSettings({
  dedicated,
  pinning,
  hugepages,
}: PlacementDto): Omit<SetPlacementChange, 'kind' | 'restart'> {
  return {
    ...(dedicated && {
      dedicated: definedFields({
        isOn: dedicated.on,
        isolatesEmulator: dedicated.isolateEmulator,
        passesNuma: dedicated.numa,
      }),
    }),
    ...(pinning && {
      pinning: definedFields({
        vcpus: pinning.vcpus,
        emulatorCpus: pinning.emulatorCpus === null ? '' : pinning.emulatorCpus,
        memory: pinning.memory,
        cells: pinning.cells?.map(({ cpus, mem }) => ({ cpus, memoryBytes: parseMemory(mem, 'pinning.cells.mem') })),
      }),
    }),
    ...(hugepages !== undefined && {
      hugepageBytes: hugepages === null ? null : parseSize(hugepages, PAGE_RULE, 'hugepages'),
    }),
  };
}

export const presentPlacement = ({ dedicated, pinning, hugepageBytes }: Placement): PlacementView => ({
  dedicated: dedicated && {
    on: dedicated.isOn,
    isolateEmulator: dedicated.isolatesEmulator,
    numa: dedicated.passesNuma,
  },
  pinning: pinning && {
    vcpus: pinning.vcpus.map(({ vcpu, cpus }) => ({ vcpu, cpus })),
    emulatorCpus: pinning.emulatorCpus === '' ? null : pinning.emulatorCpus,
    memory: pinning.memory && { ...pinning.memory },
    cells: pinning.cells.map(({ cpus, memoryBytes }) => ({ cpus, mem: formatBytes(memoryBytes) })),
  },
  hugepages: hugepageBytes === null ? null : formatBytes(hugepageBytes),
});

export const presentTopology = (
  { numaNodes, hugepages, ...host }: HostTopology,
  context: string,
): HostTopologyView => ({
  context,
  ...host,
  numaNodes: numaNodes.map(({ id, cpus, memoryBytes, hugepages: own }) => ({
    id,
    cpus,
    mem: formatBytes(memoryBytes),
    hugepages: own.map(presentPool),
  })),
  hugepages: hugepages.map(presentPool),
});

const presentPool = ({ pageBytes, total, free }: HugepagePool): HugepagePoolView => ({
  size: formatBytes(pageBytes),
  total,
  free,
});

export const presentHostDevice = ({ isGpu, usedBy, ...device }: HostDevice, context: string): HostDeviceView => ({
  context,
  ...device,
  gpu: isGpu,
  usedBy: [...usedBy],
});
