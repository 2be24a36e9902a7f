import {
  buildPlan,
  deviceNotFound,
  describeHardwareChange,
  DISK_RULE,
  DomainError,
  formatBytes,
  formatRef,
  InstanceHardware,
  isRunningStatus,
  MEMORY_RULE,
  throwFirstRefusal,
  type Container,
  type Hardware,
  type HardwareChange,
  type HardwareDisk,
  type HardwareEffect,
  type HardwareNic,
  type HardwarePlan,
  type HardwareResult,
  type Instance,
  type InstanceRef,
  type PendingSetting,
  type SizeRule,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import { MEMORY_NETWORKS, MEMORY_VOLUME } from './memory-instances.js';
import { MemoryPlacements } from './memory-placements.js';
import type { MemoryEngine } from './memory-engine.js';

const MAX_CPU = 512;

interface Devices {
  readonly disks: readonly HardwareDisk[];
  readonly nics: readonly HardwareNic[];
  readonly bootOrder: readonly string[];
  readonly autostart: boolean;
}

const initialDevices = ({ diskBytes }: VirtualMachine, network: string | undefined): Devices => ({
  disks: [{ volume: 'root', device: 'vda', type: 'disk', bus: 'virtio', sizeBytes: diskBytes, isRoot: true }],
  nics:
    network === undefined
      ? []
      : [{ name: 'default', network, mac: '52:54:00:00:00:01', model: 'virtio', isLinkUp: true }],
  bootOrder: ['vda'],
  autostart: false,
});

/** A change that was checked, with the function that carries it out. */
interface Prepared {
  readonly plan: HardwarePlan;
  readonly run: () => HardwareResult;
}

export class MemoryHardware extends InstanceHardware {
  /** By VM. */
  private readonly devices = new Map<string, Devices>();
  /** The size of the next start of running VMs that differ from it, by VM. */
  private readonly nextSize = new Map<string, { readonly cpu: number; readonly memoryBytes: number }>();
  /** Volumes that VMs have or had, with their sizes. */
  private readonly volumes = new Map<string, number>([[MEMORY_VOLUME, 1024 ** 3]]);
  private lastVolume = 1;
  readonly placements: MemoryPlacements;

  constructor(private readonly engine: MemoryEngine) {
    super();
    this.placements = new MemoryPlacements(engine);
  }

  override async read(ref: InstanceRef): Promise<Hardware> {
    if (ref.kind === 'ct') return hardwareOfContainer(this.engine.container(ref));
    const vm = this.engine.vm(ref);
    const { cpu, memoryBytes } = vm;
    const pending = [...this.pendingOf(vm), ...this.placements.pendingOf(vm)];
    const limits = { maxCpu: MAX_CPU, maxMemoryBytes: null };
    return { cpu, memoryBytes, ...limits, ...this.devicesOf(vm), ...this.placements.read(vm), pending };
  }

  override async plan(ref: InstanceRef, change: HardwareChange): Promise<HardwarePlan> {
    return this.find(ref, change).plan;
  }

  override async apply(ref: InstanceRef, change: HardwareChange): Promise<HardwareResult> {
    const { plan, run } = this.find(ref, change);
    throwFirstRefusal(plan);
    return run();
  }

  /** Gives the volume of a disk another name, as its move to another storage does. */
  renameVolume(ref: InstanceRef, from: string, to: string): void {
    this.update(this.engine.vm(ref), ({ disks }) => ({
      disks: disks.map((disk) => (disk.volume === from ? { ...disk, volume: to } : disk)),
    }));
  }

  private find(ref: InstanceRef, change: HardwareChange): Prepared {
    if (ref.kind === 'ct') {
      const container = this.engine.container(ref);
      return this.prepare(ref, change, () => this.scaleContainer(container, change));
    }
    const vm = this.engine.vm(ref);
    return this.prepare(ref, change, () => this.check(vm, change));
  }

  private prepare(ref: InstanceRef, change: HardwareChange, check: () => Checked): Prepared {
    const isRunning = this.engine.isRunning(ref);
    try {
      const { run, effect = isRunning ? 'now' : 'next-start', isDone = false } = check();
      const steps = isDone ? [] : [{ name: change.kind, detail: `${ref.name}: ${describeHardwareChange(change)}.` }];
      return { plan: { ...buildPlan(steps), effect }, run: () => ({ effect, ...run() }) };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const refusal = { code: error.code, reason: error.message, remedy: 'Change the request.' };
      const run = (): never => {
        throw error;
      };
      return { plan: { ...buildPlan([], { refusals: [refusal] }), effect: 'now' }, run };
    }
  }

  /** @throws DomainError if the change is refused */
  private check(vm: VirtualMachine, change: HardwareChange): Checked {
    switch (change.kind) {
      case 'scale':
        return this.scale(vm, change);
      case 'attach-volume':
        return this.attach(vm, change.disk);
      case 'detach-volume':
        return this.detach(vm, change.volume, change.deleteVolume);
      case 'expand-volume':
        return this.expand(vm, change.volume, change.sizeBytes);
      case 'add-nic':
        return this.addNic(vm, change);
      case 'change-nic':
        return this.changeNic(vm, change);
      case 'remove-nic':
        this.findNic(vm, change.nic);
        return {
          run: () => this.update(vm, ({ nics }) => ({ nics: nics.filter(({ name }) => name !== change.nic) })),
        };
      case 'set-boot-order':
        return this.setBootOrder(vm, change.devices);
      case 'set-autostart':
        return { effect: 'now', run: () => this.update(vm, () => ({ autostart: change.isOn })) };
      case 'change-medium':
        throw deviceNotFound(vm.ref.name, `drive ${change.drive}`, []);
      case 'set-placement':
        return this.placements.set(vm, change);
      case 'attach-host-device':
        return this.placements.attach(vm, change.device);
      case 'detach-host-device':
        return this.placements.detach(vm, change.name);
    }
  }

  /** At once, because it has no processes that need memory. */
  private scaleContainer(container: Container, change: HardwareChange): Checked {
    if (change.kind !== 'scale')
      throw new DomainError('NOT_SUPPORTED', `${change.kind}: only the size of containers can be changed.`);
    const { cpu = container.cpu, memoryBytes = container.memoryBytes } = change;
    expectCpus(cpu);
    expectSize(memoryBytes, MEMORY_RULE, 'mem');
    const isDone = cpu === container.cpu && memoryBytes === container.memoryBytes;
    const run = (): object => {
      this.engine.put({ ...container, cpu, memoryBytes });
      return {};
    };
    return { isDone, run };
  }

  private scale(vm: VirtualMachine, { cpu = vm.cpu, memoryBytes = vm.memoryBytes, restart }: Scale): Checked {
    expectCpus(cpu);
    expectSize(memoryBytes, MEMORY_RULE, 'mem');
    const isDone = cpu === vm.cpu && memoryBytes === vm.memoryBytes;
    const isLive = cpu >= vm.cpu && memoryBytes >= vm.memoryBytes;
    const waits = isRunningStatus(vm.status) && !isLive && !restart;
    const effect: HardwareEffect = !isRunningStatus(vm.status) || waits ? 'next-start' : isLive ? 'now' : 'restart';
    const run = (): object => {
      if (waits) this.nextSize.set(keyOf(vm), { cpu, memoryBytes });
      else this.nextSize.delete(keyOf(vm));
      const { pendingCount: _before, ...rest } = vm;
      const pendingCount = Number(cpu !== vm.cpu) + Number(memoryBytes !== vm.memoryBytes);
      this.engine.put(
        waits ? { ...vm, restartRequired: true, pendingCount } : { ...rest, cpu, memoryBytes, restartRequired: false },
      );
      return {};
    };
    return { effect, isDone, run };
  }

  private attach(vm: VirtualMachine, disk: { sizeBytes: number } | { volume: string }): Checked {
    if ('sizeBytes' in disk) {
      expectSize(disk.sizeBytes, DISK_RULE, 'size');
      return { run: () => this.plug(vm, `disk-${++this.lastVolume}`, disk.sizeBytes) };
    }
    const sizeBytes = this.volumes.get(disk.volume);
    if (sizeBytes === undefined) throw new DomainError('VOLUME_NOT_FOUND', `There is no volume ${disk.volume}.`);
    const user = this.engine
      .all()
      .find((other) => this.devices.get(keyOf(other))?.disks.some((one) => one.volume === disk.volume));
    if (user && keyOf(user) === keyOf(vm))
      throw new DomainError('ALREADY_EXISTS', `${vm.ref.name} has the volume ${disk.volume}.`);
    if (user) throw new DomainError('BUSY', `The volume ${disk.volume} is used by ${user.ref.name}.`);
    return { run: () => this.plug(vm, disk.volume, sizeBytes) };
  }

  private plug(vm: VirtualMachine, volume: string, sizeBytes: number): { volume: string } {
    this.volumes.set(volume, sizeBytes);
    const device = `vd-${volume}`;
    const disk: HardwareDisk = { volume, device, type: 'disk', bus: 'virtio', sizeBytes, isRoot: false };
    this.update(vm, ({ disks }) => ({ disks: [...disks, disk] }));
    return { volume };
  }

  private detach(vm: VirtualMachine, volume: string, deleteVolume: boolean): Checked {
    const { isRoot } = this.findDisk(vm, volume);
    if (isRoot) throw new DomainError('WRONG_STATE', `${vm.ref.name} boots from ${volume}.`);
    const run = (): object => {
      this.update(vm, ({ disks }) => ({ disks: disks.filter((disk) => disk.volume !== volume) }));
      if (deleteVolume) this.volumes.delete(volume);
      return {};
    };
    return { run };
  }

  private expand(vm: VirtualMachine, volume: string, sizeBytes: number): Checked {
    const disk = this.findDisk(vm, volume);
    expectSize(sizeBytes, DISK_RULE, 'size');
    const current = disk.sizeBytes ?? 0;
    if (sizeBytes < current) {
      throw new DomainError('INVALID_QUANTITY', `size: ${volume} has ${formatBytes(current)} and can't shrink.`);
    }
    const run = (): object => {
      this.volumes.set(volume, sizeBytes);
      const grow = (one: HardwareDisk): HardwareDisk => (one.volume === volume ? { ...one, sizeBytes } : one);
      this.update(vm, ({ disks }) => ({ disks: disks.map(grow) }));
      if (disk.isRoot) this.engine.put({ ...this.engine.vm(vm.ref), diskBytes: sizeBytes });
      return {};
    };
    return { isDone: sizeBytes === current, run };
  }

  private addNic(vm: VirtualMachine, { nic, network, mac = this.freeMac() }: NewNic): Checked {
    const address = mac.toLowerCase();
    if (this.devicesOf(vm).nics.some(({ name }) => name === nic)) {
      throw new DomainError('ALREADY_EXISTS', `${vm.ref.name} has a NIC ${nic} already.`);
    }
    if ([...this.devices.values()].some(({ nics }) => nics.some((one) => one.mac === address))) {
      throw new DomainError('ALREADY_EXISTS', `The MAC address ${address} is taken.`);
    }
    expectNetwork(network);
    const added: HardwareNic = { name: nic, network, mac: address, model: 'virtio', isLinkUp: true };
    return { run: () => this.update(vm, ({ nics }) => ({ nics: [...nics, added] })) };
  }

  private changeNic(vm: VirtualMachine, { nic, network, isLinkUp }: NicUpdate): Checked {
    const found = this.findNic(vm, nic);
    if (network !== undefined) expectNetwork(network);
    const changed = { ...found, network: network ?? found.network, isLinkUp: isLinkUp ?? found.isLinkUp };
    return {
      run: () => this.update(vm, ({ nics }) => ({ nics: nics.map((one) => (one.name === nic ? changed : one)) })),
    };
  }

  private setBootOrder(vm: VirtualMachine, bootOrder: readonly string[]): Checked {
    const { disks, nics } = this.devicesOf(vm);
    const present = [...disks.map(({ device }) => device), ...nics.map(({ name }) => name)];
    const unknown = bootOrder.find((device) => !present.includes(device));
    if (unknown !== undefined) throw deviceNotFound(vm.ref.name, `device ${unknown}`, present);
    if (bootOrder.length === 0 || new Set(bootOrder).size !== bootOrder.length) {
      throw new DomainError('INVALID_INPUT', 'devices must name at least one device, and none twice.');
    }
    return { effect: 'next-start', run: () => this.update(vm, () => ({ bootOrder })) };
  }

  private update(vm: VirtualMachine, change: (devices: Devices) => Partial<Devices>): object {
    const devices = this.devicesOf(vm);
    this.devices.set(keyOf(vm), { ...devices, ...change(devices) });
    return {};
  }

  private devicesOf(vm: VirtualMachine): Devices {
    return this.devices.get(keyOf(vm)) ?? initialDevices(vm, this.engine.firstNetworks.get(formatRef(vm.ref)));
  }

  private findDisk(vm: VirtualMachine, volume: string): HardwareDisk {
    const { disks } = this.devicesOf(vm);
    const disk = disks.find((one) => one.volume === volume);
    if (disk) return disk;
    throw deviceNotFound(
      vm.ref.name,
      `disk ${volume}`,
      disks.map((one) => one.volume ?? one.device),
    );
  }

  private findNic(vm: VirtualMachine, nic: string): HardwareNic {
    const { nics } = this.devicesOf(vm);
    const found = nics.find(({ name }) => name === nic);
    if (found) return found;
    throw deviceNotFound(
      vm.ref.name,
      `NIC ${nic}`,
      nics.map(({ name }) => name),
    );
  }

  private freeMac(): string {
    const next = [...this.devices.values()].flatMap(({ nics }) => nics).length + 1;
    return `52:54:01:00:00:${next.toString(16).padStart(2, '0')}`;
  }

  /** A restart applies the size of the next start. */
  private pendingOf(vm: VirtualMachine): PendingSetting[] {
    const { cpu, memoryBytes, status } = vm;
    const next = this.nextSize.get(keyOf(vm));
    if (!next || !isRunningStatus(status)) return [];
    return [
      ...(next.cpu === cpu ? [] : [{ field: 'cpu', running: String(cpu), configured: String(next.cpu) }]),
      ...(next.memoryBytes === memoryBytes
        ? []
        : [{ field: 'memory', running: formatBytes(memoryBytes), configured: formatBytes(next.memoryBytes) }]),
    ];
  }
}

function expectCpus(cpu: number): void {
  if (Number.isInteger(cpu) && cpu >= 1 && cpu <= MAX_CPU) return;
  throw new DomainError('INVALID_INPUT', `cpu must be a whole number from 1 to ${MAX_CPU}.`);
}

const hardwareOfContainer = ({ cpu, memoryBytes }: Container): Hardware => ({
  cpu,
  memoryBytes,
  maxCpu: MAX_CPU,
  maxMemoryBytes: null,
  disks: [],
  nics: [],
  bootOrder: [],
  autostart: null,
  placement: { dedicated: null, pinning: null, hugepageBytes: null },
  hostDevices: [],
  pending: [],
  changes: ['scale'],
});

/** A VM that is created again under the same name is another one. */
const keyOf = ({ ref, uid }: Instance): string => `${formatRef(ref)} ${uid}`;

interface Checked {
  readonly effect?: HardwareEffect;
  /** Whether the VM is already as requested. */
  readonly isDone?: boolean;
  readonly run: () => object;
}

interface Scale {
  readonly cpu?: number;
  readonly memoryBytes?: number;
  readonly restart: boolean;
}

interface NewNic {
  readonly nic: string;
  readonly network: string;
  readonly mac?: string;
}

interface NicUpdate {
  readonly nic: string;
  readonly network?: string;
  readonly isLinkUp?: boolean;
}

function expectSize(bytes: number, { minBytes, maxBytes }: SizeRule, field: string): void {
  if (Number.isSafeInteger(bytes) && bytes >= minBytes && bytes <= maxBytes) return;
  throw new DomainError(
    'INVALID_QUANTITY',
    `${field} must be from ${formatBytes(minBytes)} to ${formatBytes(maxBytes)}.`,
  );
}

function expectNetwork(network: string): void {
  if ((MEMORY_NETWORKS as readonly string[]).includes(network)) return;
  throw new DomainError('INVALID_INPUT', `There is no network ${network}.`);
}
