import {
  Containers,
  DomainError,
  buildPlan,
  formatRef,
  InstanceInventory,
  InstanceMigration,
  InstancePower,
  InstanceProvisioning,
  isRunningStatus,
  templateRefusal,
  throwFirstRefusal,
  type BackgroundWork,
  type ContainerSpec,
  type Creation,
  type CreationState,
  type InstanceRef,
  type OperationKey,
  type OperationState,
  type InventoryListener,
  type InventoryWatch,
  type Json,
  type Plan,
  type PowerAction,
  type Refusal,
  type VirtualMachine,
  type VmSourceKind,
  type VmSpec,
  type VmStatus,
} from '@headgate/domain-contracts';
import { buildContainer, buildVm } from '../builders.js';
import { withStatus, type MemoryEngine } from './memory-engine.js';

/** The one volume that a `pvc` source may name. */
export const MEMORY_VOLUME = 'volume-1';
/** The networks that NICs can be attached to. */
export const MEMORY_NETWORKS = ['lan-1', 'lan-2'] as const;
/** The storage of new disks, and another one. */
export const MEMORY_STORAGES: readonly string[] = ['storage-1', 'storage-2'];

export class MemoryInventory extends InstanceInventory {
  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override watch(listener: InventoryListener): InventoryWatch {
    const stop = this.engine.watch(listener);
    return { stop: async () => stop() };
  }

  override async manifest(ref: InstanceRef, { masked }: { masked: boolean }): Promise<Json> {
    if (ref.kind === 'ct') {
      const { uid, phase, image } = this.engine.container(ref);
      return { kind: 'MemoryContainer', name: ref.name, uid, phase, image };
    }
    const { uid, status } = this.engine.vm(ref);
    return { kind: 'MemoryVm', name: ref.name, uid, status, userData: masked ? '***' : 'password: secret' };
  }
}

const STATUS_AFTER: Readonly<Record<PowerAction, VmStatus>> = {
  start: 'Running',
  stop: 'Stopped',
  restart: 'Running',
  pause: 'Paused',
  unpause: 'Running',
};

export class MemoryPower extends InstancePower {
  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async apply(ref: InstanceRef, action: PowerAction): Promise<void> {
    const vm = this.engine.vm(ref);
    if (vm.status === 'Provisioning') throw new DomainError('BUSY', `${ref.name} is still being created.`);
    if (action !== 'start' && action !== 'stop' && !isRunningStatus(vm.status)) {
      throw new DomainError('WRONG_STATE', `${ref.name} is not running, so it can't ${action}.`);
    }
    if (vm.isTemplate && STATUS_AFTER[action] === 'Running')
      throw new DomainError('WRONG_STATE', templateRefusal(ref.name));
    this.engine.setStatus(vm, STATUS_AFTER[action]);
  }

  override async staysOn(ref: InstanceRef): Promise<boolean> {
    const { status } = this.engine.vm(ref);
    return isRunningStatus(status) && status !== 'Stopping';
  }
}

export class MemoryProvisioning extends InstanceProvisioning {
  /** The refs of VMs by the ID of their creation. */
  private readonly creations = new Map<string, string>();

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override sources(): Readonly<Record<VmSourceKind, true | string>> {
    return {
      containerDisk: true,
      image: true,
      import: true,
      iso: true,
      bootc: true,
      pvc: true,
    };
  }

  override async planCreate(spec: VmSpec): Promise<Plan> {
    this.engine.expectReachable();
    const { ref } = spec;
    const refusals = [...refusalsOf(this.engine, ref), ...placeRefusals(spec)];
    return buildPlan([{ name: 'remember', detail: ref.name }], { refusals });
  }

  override async create(spec: VmSpec): Promise<Creation> {
    this.engine.expectReachable();
    const { ref, cpu, memoryBytes, diskBytes, source, start } = spec;
    if (this.engine.has(ref)) throw new DomainError('ALREADY_EXISTS', `${formatRef(ref)} already exists.`);
    if (source.kind === 'pvc' && source.claim !== MEMORY_VOLUME) {
      throw new DomainError('VOLUME_NOT_FOUND', `There is no volume ${source.claim}.`);
    }
    throwFirstRefusal({ refusals: placeRefusals(spec) });
    if (source.kind === 'image' && source.entry.imported)
      this.engine.setImageOf(ref, `${ref.namespace}/${source.entry.name}`);
    const uid = this.engine.nextUid();
    if (spec.creation !== undefined) this.creations.set(spec.creation, formatRef(ref));
    if (spec.network !== undefined) this.engine.firstNetworks.set(formatRef(ref), spec.network);
    const tags = [...(spec.tags ?? [])].sort();
    const size = { cpu, memoryBytes, diskBytes };
    const vm = buildVm({ ref, uid, ...size, tags, backend: this.engine.kind, liveMigratable: true });
    const finalStatus: VmStatus = start ? 'Running' : 'Stopped';
    const node = spec.node ?? this.engine.chooseNode();
    this.engine.put(withStatus(vm, source.kind === 'import' ? 'Provisioning' : finalStatus, node));
    if (source.kind !== 'import') return {};
    return {
      remaining: async (report) => {
        report.step('download');
        report.progress(0.5);
        this.engine.put(withStatus(vm, finalStatus, node));
      },
    };
  }

  override async creationState(ref: InstanceRef, creation: string): Promise<CreationState> {
    this.engine.expectReachable();
    if (this.creations.get(creation) !== formatRef(ref) || !this.engine.has(ref)) return 'absent';
    return this.engine.vm(ref).status === 'Provisioning' ? 'incomplete' : 'complete';
  }

  override async discardCreation(ref: InstanceRef, creation: string): Promise<void> {
    if ((await this.creationState(ref, creation)) === 'incomplete') this.engine.remove(ref);
  }

  override async planDelete(ref: InstanceRef): Promise<Plan> {
    return buildPlan([{ name: 'forget', detail: this.engine.vm(ref).ref.name }]);
  }

  override async delete(ref: InstanceRef): Promise<void> {
    this.engine.remove(this.engine.vm(ref).ref);
  }

  override async setTag(ref: InstanceRef, tag: string, on: boolean): Promise<void> {
    const vm = this.engine.vm(ref);
    const others = vm.tags.filter((one) => one !== tag);
    this.engine.put({ ...vm, tags: (on ? [...others, tag] : others).sort() });
  }

  override async setProtection(ref: InstanceRef, on: boolean): Promise<void> {
    this.engine.put({ ...this.engine.vm(ref), protected: on });
  }
}

/** Another machine, to which guests are migrated by the name of its context. */
export interface MemoryPeer {
  readonly context: string;
  readonly engine: MemoryEngine;
}

export class MemoryMigration extends InstanceMigration {
  private readonly targets = new Map<string, string>();

  /** @param peers absent for an engine that migrates between its own nodes */
  constructor(
    private readonly engine: MemoryEngine,
    private readonly peers?: () => readonly MemoryPeer[],
  ) {
    super();
  }

  override async plan(ref: InstanceRef, targetNode?: string): Promise<Plan> {
    const vm = this.engine.vm(ref);
    try {
      return buildPlan([{ name: 'migrate', detail: `${ref.name} to ${this.expectTarget(vm, targetNode)}` }]);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const remedy = 'Change the request.';
      return buildPlan([], { refusals: [{ code: error.code, reason: error.message, remedy }] });
    }
  }

  override async migrate(ref: InstanceRef, targetNode?: string, key?: OperationKey): Promise<BackgroundWork> {
    const vm = this.engine.vm(ref);
    const target = this.expectTarget(vm, targetNode);
    this.engine.put({ ...vm, status: 'Migrating', ready: false });
    this.engine.setState(key, 'running');
    if (key) this.targets.set(key.id, target);
    return this.follow(vm, target, key);
  }

  override async stateOf(_ref: InstanceRef, { id }: OperationKey): Promise<OperationState> {
    this.engine.expectReachable();
    return this.engine.stateOf(id);
  }

  override async resume(ref: InstanceRef, key: OperationKey): Promise<BackgroundWork> {
    return this.follow(this.engine.vm(ref), this.targets.get(key.id) ?? '', key);
  }

  override async discard(ref: InstanceRef, { id }: OperationKey): Promise<void> {
    if (this.engine.stateOf(id).state !== 'running') return;
    const vm = this.engine.vm(ref);
    if (vm.status === 'Migrating') this.engine.put(withStatus(vm, 'Running', vm.node));
    this.engine.operations.delete(id);
  }

  private follow(vm: VirtualMachine, target: string, key: OperationKey | undefined): BackgroundWork {
    const { ref } = vm;
    return async (report) => {
      report.step('copy memory');
      report.progress(0.5);
      const current = this.engine.vm(ref);
      const peer = this.peers?.().find(({ context }) => context === target);
      if (peer && !report.signal.aborted) this.handOver(current, peer);
      else this.engine.put(withStatus(current, 'Running', report.signal.aborted ? vm.node : target));
      if (report.signal.aborted) throw report.signal.reason;
      this.engine.setState(key, 'done');
      report.outcome?.({ downtimeMs: 120 });
      report.progress(1);
    };
  }

  private handOver(vm: VirtualMachine, { context, engine }: MemoryPeer): void {
    engine.put({ ...withStatus(vm, 'Running'), ref: { ...vm.ref, context } });
    this.engine.remove(vm.ref);
  }

  private expectTarget({ ref, status, node }: VirtualMachine, wanted: string | undefined): string {
    if (status !== 'Running') throw new DomainError('WRONG_STATE', `${ref.name} is not running.`);
    return this.chooseTarget(node, wanted);
  }

  private chooseTarget(source: string | undefined, wanted: string | undefined): string {
    const nodes =
      this.peers?.().map(({ context }) => context) ??
      this.engine.nodes.filter(({ ready, unschedulable }) => ready && unschedulable === '').map(({ name }) => name);
    if (wanted === undefined) {
      const other = nodes.find((name) => name !== source);
      if (other !== undefined) return other;
      throw new DomainError('WRONG_STATE', 'There is no other node that is ready.');
    }
    if (!nodes.includes(wanted)) throw new DomainError('NODE_NOT_FOUND', `There is no node ${wanted}.`);
    if (wanted === source) throw new DomainError('WRONG_STATE', `The VM is on ${wanted} already.`);
    return wanted;
  }
}

export class MemoryContainers extends Containers {
  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async planCreate({ ref, image }: ContainerSpec): Promise<Plan> {
    this.engine.expectReachable();
    return buildPlan([{ name: 'remember', detail: `${ref.name} from ${image}` }], {
      refusals: refusalsOf(this.engine, ref),
    });
  }

  override async create({ ref, image, cpu, memoryBytes, privileged }: ContainerSpec): Promise<void> {
    this.engine.expectReachable();
    if (this.engine.has(ref)) throw new DomainError('ALREADY_EXISTS', `${formatRef(ref)} already exists.`);
    const uid = this.engine.nextUid();
    const container = { ref, uid, image, cpu, memoryBytes, privileged, backend: this.engine.kind };
    this.engine.put(buildContainer({ ...container, node: this.engine.chooseNode() }));
  }

  override async start(ref: InstanceRef): Promise<void> {
    const container = this.engine.container(ref);
    if (container.phase !== 'Running') this.engine.setPhase(container, 'Running');
  }

  override async stop(ref: InstanceRef): Promise<void> {
    this.engine.setPhase(this.engine.container(ref), 'Stopped');
  }

  override async setTag(ref: InstanceRef, tag: string, on: boolean): Promise<void> {
    const container = this.engine.container(ref);
    const others = container.tags.filter((one) => one !== tag);
    this.engine.put({ ...container, tags: (on ? [...others, tag] : others).sort() });
  }

  override async planDelete(ref: InstanceRef): Promise<Plan> {
    return buildPlan([{ name: 'forget', detail: this.engine.container(ref).ref.name }]);
  }

  override async delete(ref: InstanceRef): Promise<void> {
    this.engine.remove(this.engine.container(ref).ref);
  }
}

const refusalsOf = (engine: MemoryEngine, ref: InstanceRef): Refusal[] =>
  engine.has(ref)
    ? [{ code: 'ALREADY_EXISTS', reason: `${ref.name} already exists.`, remedy: 'Choose another name.' }]
    : [];

function placeRefusals({ network, storageClass }: VmSpec): Refusal[] {
  const refuse = (reason: string): Refusal => ({ code: 'INVALID_INPUT', reason, remedy: 'Change the request.' });
  return [
    ...(network === undefined || (MEMORY_NETWORKS as readonly string[]).includes(network)
      ? []
      : [refuse(`network: there is no network ${network}.`)]),
    ...(storageClass === undefined || MEMORY_STORAGES.includes(storageClass)
      ? []
      : [refuse(`storageClass: there is no storage ${storageClass}.`)]),
  ];
}
