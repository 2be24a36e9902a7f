import type { Duplex } from 'node:stream';
import {
  ClusterInventory,
  ConsoleSource,
  DomainError,
  formatRef,
  InstanceInventory,
  InstancePower,
  InstanceProvisioning,
  isRunningStatus,
  buildPlan,
  type ClusterNode,
  type Creation,
  type InstancetypeNames,
  type InstanceRef,
  type InventoryListener,
  type InventoryWatch,
  type Json,
  type Plan,
  type PowerAction,
  type Refusal,
  type SerialLine,
  type Shell,
  type StorageCapabilities,
  type VirtualMachine,
  type VmSourceKind,
  type VmSpec,
  type VmStatus,
} from '@headgate/domain-contracts';
import { buildVm } from '../builders.js';
import { MemoryConsole } from './memory-console.js';
import { MEMORY_TRAITS } from './memory-traits.js';
import type { MemoryFleet } from './memory-fleet.js';

/** The one volume that a pvc source may name. */
export const MEMORY_VOLUME = 'volume-1';

export class MemoryInventory extends InstanceInventory {
  constructor(private readonly fleet: MemoryFleet) {
    super();
  }

  override watch(listener: InventoryListener): InventoryWatch {
    const stop = this.fleet.follow(listener);
    return { stop: async () => stop() };
  }

  override async manifest(ref: InstanceRef, { masked }: { masked: boolean }): Promise<Json> {
    const { uid, status } = this.fleet.vm(ref);
    return { kind: 'MemoryVm', name: ref.name, uid, status, userData: masked ? '***' : 'password: secret' };
  }
}

const AFTER: Readonly<Record<PowerAction, VmStatus>> = {
  start: 'Running',
  stop: 'Stopped',
  restart: 'Running',
  pause: 'Paused',
  unpause: 'Running',
};

/** A VM as it is in a state: where it runs, and whether it is ready, follow from that. */
export function withStatus(vm: VirtualMachine, status: VmStatus): VirtualMachine {
  const runs = isRunningStatus(status);
  return {
    ...vm,
    status,
    ready: status === 'Running',
    node: runs ? 'memory-1' : undefined,
    ip: runs ? '192.0.2.5' : undefined,
  };
}

export class MemoryPower extends InstancePower {
  constructor(private readonly fleet: MemoryFleet) {
    super();
  }

  override async apply(ref: InstanceRef, action: PowerAction): Promise<void> {
    const vm = this.fleet.vm(ref);
    if (action !== 'start' && action !== 'stop' && !isRunningStatus(vm.status)) {
      throw new DomainError('WRONG_STATE', `${ref.name} does not run, so it can't ${action}.`);
    }
    this.fleet.put(withStatus(vm, AFTER[action]));
  }
}

export class MemoryProvisioning extends InstanceProvisioning {
  constructor(private readonly fleet: MemoryFleet) {
    super();
  }

  override sources(): Readonly<Record<VmSourceKind, true | string>> {
    return {
      containerDisk: true,
      image: true,
      import: true,
      iso: true,
      bootc: 'The bootc plugin is not here.',
      pvc: true,
    };
  }

  override async planCreate({ ref }: VmSpec): Promise<Plan> {
    this.fleet.expectHere();
    const taken: Refusal = {
      code: 'ALREADY_EXISTS',
      reason: `${ref.name} is there already.`,
      remedy: 'Choose another name.',
    };
    return buildPlan([{ name: 'remember', detail: ref.name }], { refusals: this.fleet.has(ref) ? [taken] : [] });
  }

  override async create(spec: VmSpec): Promise<Creation> {
    this.fleet.expectHere();
    const { ref, cpu, memoryBytes, diskBytes, source, start } = spec;
    if (this.fleet.has(ref)) throw new DomainError('ALREADY_EXISTS', `${formatRef(ref)} is there already.`);
    if (source.kind === 'pvc' && source.claim !== MEMORY_VOLUME) {
      throw new DomainError('VOLUME_NOT_FOUND', `There is no volume ${source.claim}.`);
    }
    const vm = buildVm({ ref, backend: MEMORY_TRAITS.kind, uid: this.fleet.nextUid(), cpu, memoryBytes, diskBytes });
    const ended: VmStatus = start ? 'Running' : 'Stopped';
    this.fleet.put(withStatus(vm, source.kind === 'import' ? 'Provisioning' : ended));
    if (source.kind !== 'import') return {};
    return {
      remaining: async (report) => {
        report.step('download');
        report.progress(0.5);
        this.fleet.put(withStatus(vm, ended));
      },
    };
  }

  override async planDelete(ref: InstanceRef): Promise<Plan> {
    return buildPlan([{ name: 'forget', detail: this.fleet.vm(ref).ref.name }]);
  }

  override async delete(ref: InstanceRef): Promise<void> {
    this.fleet.remove(this.fleet.vm(ref).ref);
  }

  override async setTag(ref: InstanceRef, tag: string, on: boolean): Promise<void> {
    const vm = this.fleet.vm(ref);
    const rest = vm.tags.filter((one) => one !== tag);
    this.fleet.put({ ...vm, tags: (on ? [...rest, tag] : rest).sort() });
  }
}

export class MemoryConsoles extends ConsoleSource {
  override readonly vncViewers = 'many';

  constructor(private readonly fleet: MemoryFleet) {
    super();
  }

  override async openVnc(ref: InstanceRef): Promise<Duplex> {
    return this.console(ref, 'RFB 003.008\n');
  }

  override async openSerial(ref: InstanceRef): Promise<SerialLine> {
    return { stream: this.console(ref, 'login: '), backlog: Buffer.from('booted\n') };
  }

  override async openShell(): Promise<Shell> {
    throw new DomainError('NOT_SUPPORTED', 'There are no containers in memory.');
  }

  private console(ref: InstanceRef, greeting: string): Duplex {
    if (!isRunningStatus(this.fleet.vm(ref).status)) throw new DomainError('WRONG_STATE', `${ref.name} does not run.`);
    return new MemoryConsole(greeting);
  }
}

export class MemoryCluster extends ClusterInventory {
  constructor(private readonly fleet: MemoryFleet) {
    super();
  }

  override async nodes(): Promise<readonly ClusterNode[]> {
    this.fleet.expectHere();
    return [{ name: 'memory-1', ready: true, roles: 'worker', kubelet: 'v1.0.0', arch: 'amd64' }];
  }

  override async storage(): Promise<StorageCapabilities> {
    this.fleet.expectHere();
    return { storageClass: 'memory', canExpand: false, canSnapshot: false };
  }

  override async instancetypes(): Promise<InstancetypeNames> {
    this.fleet.expectHere();
    return { instancetypes: ['u1.small'], preferences: ['debian'] };
  }
}
