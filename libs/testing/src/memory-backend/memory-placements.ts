import {
  changedPlacement,
  deviceNotFound,
  DomainError,
  formatBytes,
  formatRef,
  HostResources,
  hugepageRefusals,
  isRunningStatus,
  pinningRefusals,
  throwFirstRefusal,
  type AttachedHostDevice,
  type HardwareEffect,
  type HostDevice,
  type HostTopology,
  type PendingSetting,
  type Placement,
  type SetPlacementChange,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';

const MAX_CPU = 512;
const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const hugepages = (pages: number) => [{ pageBytes: 2 * MIB, total: pages, free: pages }];
/** A host with a CPU that is offline, and with enough reserved pages for the VMs of the tests. */
const TOPOLOGY: Omit<HostTopology, 'node'> = {
  cpus: '0-5,7',
  offlineCpus: '6',
  numaNodes: [
    { id: 0, cpus: '0-3', memoryBytes: 64 * GIB, hugepages: hugepages(4096) },
    { id: 1, cpus: '4-5,7', memoryBytes: 64 * GIB, hugepages: hugepages(4096) },
  ],
  hugepages: hugepages(8192),
  reservesCpus: false,
};
const DEVICES: readonly Omit<HostDevice, 'node' | 'usedBy'>[] = [
  ...[1, 2].map((slot) => ({
    name: `pci_0000_0${slot}_00_0`,
    kind: 'pci' as const,
    label: `Example graphics card ${slot}`,
    isGpu: true,
    driver: 'vfio-pci',
    iommuGroup: slot,
    total: 1,
    refusal: null,
  })),
  {
    name: 'pci_0000_03_00_0',
    kind: 'pci',
    label: 'Example NIC',
    isGpu: false,
    driver: 'example',
    iommuGroup: 3,
    total: 1,
    refusal: 'The host uses it: it has the network interface eth0.',
  },
];
const NO_PLACEMENT: Placement = {
  dedicated: null,
  pinning: { vcpus: [], emulatorCpus: '', memory: null, cells: [] },
  hugepageBytes: null,
};

interface Placed {
  readonly placement: Placement;
  readonly hostDevices: readonly AttachedHostDevice[];
  readonly pending: readonly PendingSetting[];
}

interface CheckedPlacement {
  readonly effect?: HardwareEffect;
  readonly isDone?: boolean;
  readonly run: () => object;
}

/** Where the VMs in memory are placed, and the devices that are passed through to them. */
export class MemoryPlacements {
  private readonly placed = new Map<string, Placed>();

  constructor(private readonly engine: MemoryEngine) {}

  read(vm: VirtualMachine): Pick<Placed, 'placement' | 'hostDevices'> {
    const { placement, hostDevices } = this.of(vm);
    return { placement, hostDevices };
  }

  pendingOf(vm: VirtualMachine): readonly PendingSetting[] {
    return isRunningStatus(vm.status) ? this.of(vm).pending : [];
  }

  topology(): HostTopology[] {
    return this.engine.nodes.map(({ name }) => ({ ...TOPOLOGY, node: name }));
  }

  devices(): HostDevice[] {
    const [node] = this.engine.nodes;
    return DEVICES.map((device) => {
      const users = this.usersOf(device.name);
      const usedBy = users.map(({ ref }) => `${ref.namespace}/${ref.name}`);
      const refusal = usedBy.length > 0 ? `It is used by ${usedBy.join(', ')}.` : device.refusal;
      return { ...device, node: node?.name ?? '', usedBy, refusal };
    });
  }

  /** @throws DomainError if the change is refused */
  set(vm: VirtualMachine, change: SetPlacementChange): CheckedPlacement {
    if (change.dedicated) {
      throw new DomainError('NOT_SUPPORTED', 'The engine in memory does not reserve CPUs: use pinning.');
    }
    const present = this.of(vm);
    const placement = changedPlacement(present.placement, change);
    const [host] = this.topology();
    if (!host) throw new DomainError('NODE_NOT_FOUND', 'There is no host.');
    const limits = { name: vm.ref.name, maxCpu: MAX_CPU, memoryBytes: vm.memoryBytes, host };
    const isRunning = isRunningStatus(vm.status);
    const refusals = [
      ...pinningRefusals(change.pinning ?? {}, limits),
      ...hugepageRefusals(placement, limits, isRunning && change.restart),
    ];
    throwFirstRefusal({ refusals });
    const isLive = ['memory', 'cells'].every((field) => !(field in (change.pinning ?? {}))) &&
      placement.hugepageBytes === present.placement.hugepageBytes; // prettier-ignore
    const waits = isRunning && !isLive && !change.restart;
    const effect: HardwareEffect = !isRunning || waits ? 'next-start' : isLive ? 'now' : 'restart';
    const pages = (bytes: number | null): string => (bytes === null ? 'default' : formatBytes(bytes));
    const pending = waits
      ? [
          {
            field: 'hugepages',
            running: pages(present.placement.hugepageBytes),
            configured: pages(placement.hugepageBytes),
          },
        ]
      : [];
    const run = (): object => {
      this.placed.set(keyOf(vm), { ...present, placement, pending });
      if (waits) this.engine.put({ ...vm, restartRequired: true, pendingCount: Math.max(1, pending.length) });
      return {};
    };
    return { effect, isDone: JSON.stringify(placement) === JSON.stringify(present.placement), run };
  }

  /** @throws DomainError if the device can't be passed through */
  attach(vm: VirtualMachine, name: string): CheckedPlacement {
    const device = this.devices().find((one) => one.name === name);
    if (!device) {
      throw new DomainError('DEVICE_NOT_FOUND', `${this.engine.nodes[0]?.name} has no device ${name}.`);
    }
    const users = this.usersOf(name);
    if (users.some((user) => keyOf(user) === keyOf(vm))) {
      throw new DomainError('ALREADY_EXISTS', `${vm.ref.name} has ${name} already.`);
    }
    if (users.length > 0) throw new DomainError('BUSY', `${name} is used by ${users[0]?.ref.name}.`);
    if (device.refusal !== null) throw new DomainError('WRONG_STATE', `${name}: ${device.refusal}`);
    const attached = { name, device: name, kind: device.kind };
    return { run: () => this.update(vm, (devices) => [...devices, attached]) };
  }

  /** @throws DomainError DEVICE_NOT_FOUND */
  detach(vm: VirtualMachine, name: string): CheckedPlacement {
    const { hostDevices } = this.of(vm);
    if (!hostDevices.some((one) => one.name === name)) {
      throw deviceNotFound(vm.ref.name, `host device ${name}`, hostDevices.map((one) => one.name)); // prettier-ignore
    }
    return { run: () => this.update(vm, (devices) => devices.filter((one) => one.name !== name)) };
  }

  private update(vm: VirtualMachine, change: (devices: Placed['hostDevices']) => Placed['hostDevices']): object {
    const present = this.of(vm);
    this.placed.set(keyOf(vm), { ...present, hostDevices: change(present.hostDevices) });
    return {};
  }

  private usersOf(device: string): VirtualMachine[] {
    return this.engine
      .all()
      .filter((one): one is VirtualMachine => one.ref.kind === 'vm')
      .filter((vm) => this.of(vm).hostDevices.some((one) => one.device === device));
  }

  private of(vm: VirtualMachine): Placed {
    return this.placed.get(keyOf(vm)) ?? { placement: NO_PLACEMENT, hostDevices: [], pending: [] };
  }
}

const keyOf = ({ ref, uid }: VirtualMachine): string => `${formatRef(ref)} ${uid}`;

export class MemoryHostResources extends HostResources {
  constructor(
    private readonly engine: MemoryEngine,
    private readonly placements: MemoryPlacements,
  ) {
    super();
  }

  override async topology(): Promise<readonly HostTopology[]> {
    this.engine.expectReachable();
    return this.placements.topology();
  }

  override async devices(): Promise<readonly HostDevice[]> {
    this.engine.expectReachable();
    return this.placements.devices();
  }
}
