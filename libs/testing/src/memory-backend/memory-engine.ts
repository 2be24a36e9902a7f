import {
  DomainError,
  formatRef,
  isContainer,
  isRunningStatus,
  isVm,
  type BackendKindName,
  type ClusterNode,
  type Container,
  type ContainerPhase,
  type Instance,
  type InstanceEvent,
  type InstanceReading,
  type InstanceRef,
  type InventoryListener,
  type OperationState,
  type PortableContainer,
  type PortableVm,
  type VirtualMachine,
  type VmStatus,
} from '@headgate/domain-contracts';

interface RecordedEvent {
  readonly ref: string;
  readonly uid: string;
  readonly event: InstanceEvent;
}

/** When all guests in memory were started: this engine has no clock. */
const STARTED_AT = '2026-01-02T00:00:00.000Z';
const MAX_RECORDED_EVENTS = 1000;

/** The engine behind a MemoryBackend: its instances and nodes, and the listeners of its inventory. */
export class MemoryEngine {
  readonly nodes: ClusterNode[];
  /** Checks of the doctor by name, with the message of a failed one. Fixing a check empties its message. */
  readonly faults = new Map<string, string>();
  /** The space of the disk on which it keeps volumes. */
  freeBytes = 1024 ** 4;
  /** Values that replace those of an instance in the next readings, by the instance's ref as text. */
  readonly readings = new Map<string, Partial<InstanceReading>>();
  /** `namespace/name` of the imported images that VMs were created from, by the refs of the VMs as text. */
  private readonly imagesOfVms = new Map<string, string>();
  /** The content of disks that differs from that of a new VM, by the ref of the VM as text and the name of the disk. */
  readonly disks = new Map<string, Buffer>();
  /** Properties of VMs that only a copy of them needs, by the ref as text. */
  readonly portable = new Map<string, Partial<PortableVm>>();
  /** The same of containers. */
  readonly portableContainers = new Map<string, Partial<PortableContainer>>();
  /** The network of the first card of VMs that were created with one, by the ref as text. */
  readonly firstNetworks = new Map<string, string>();
  /** The operations with a key, by its ID. */
  readonly operations = new Map<string, OperationState>();
  private readonly instances = new Map<string, Instance>();
  private readonly listeners = new Set<InventoryListener>();
  private readonly recorded: RecordedEvent[] = [];
  private outage: DomainError | undefined;
  private lastUid = 0;
  private nextNode = 0;

  /**
   * @param kind of the backend that its instances belong to
   * @param nodeCount how many nodes there are: `memory-1` and so on
   */
  constructor(
    readonly kind: BackendKindName,
    nodeCount = 2,
  ) {
    this.nodes = Array.from({ length: nodeCount }, (_none, index) => ({
      name: `memory-${index + 1}`,
      ready: true,
      roles: index === 0 ? 'control-plane,worker' : 'worker',
      kubelet: 'v1.0.0',
      arch: 'amd64',
      cpuMillicores: 16_000,
      memoryBytes: 64 * 1024 ** 3,
      allocatable: { cpuMillicores: 15_500, memoryBytes: 62 * 1024 ** 3 },
      zone: '',
      unschedulable: '',
    }));
  }

  /** A uid that no instance had before. */
  nextUid(): string {
    return `memory-${++this.lastUid}`;
  }

  stateOf(id: string): OperationState {
    return this.operations.get(id) ?? { state: 'absent' };
  }

  setState(key: { readonly id: string } | undefined, state: 'running' | 'done'): void {
    if (key) this.operations.set(key.id, { state });
  }

  all(): readonly Instance[] {
    return [...this.instances.values()];
  }

  watch(listener: InventoryListener): () => void {
    this.listeners.add(listener);
    queueMicrotask(() => {
      if (!this.listeners.has(listener)) return;
      if (this.outage) listener.lost(this.outage);
      else listener.listed(this.all());
    });
    return () => void this.listeners.delete(listener);
  }

  put(instance: Instance): void {
    this.record(instance);
    this.instances.set(formatRef(instance.ref), instance);
    if (!this.outage) for (const listener of this.listeners) listener.changed(instance);
  }

  remove(ref: InstanceRef): void {
    const text = formatRef(ref);
    this.instances.delete(text);
    this.portable.delete(text);
    this.portableContainers.delete(text);
    this.firstNetworks.delete(text);
    for (const disk of [...this.disks.keys()]) if (disk.startsWith(`${text} `)) this.disks.delete(disk);
    if (!this.outage) for (const listener of this.listeners) listener.removed(ref);
  }

  /** The events about one instance, newest first. */
  eventsOf({ ref, uid }: Instance): readonly InstanceEvent[] {
    return this.recorded.filter((one) => one.ref === formatRef(ref) && one.uid === uid).map(({ event }) => event);
  }

  has(ref: InstanceRef): boolean {
    return this.instances.has(formatRef(ref));
  }

  /** @throws DomainError INSTANCE_NOT_FOUND, or the error of the outage */
  vm(ref: InstanceRef): VirtualMachine {
    const instance = this.find(ref);
    if (instance && isVm(instance)) return instance;
    throw new DomainError('INSTANCE_NOT_FOUND', `There is no VM ${ref.namespace}/${ref.name}.`);
  }

  /** @throws DomainError INSTANCE_NOT_FOUND, or the error of the outage */
  container(ref: InstanceRef): Container {
    const instance = this.find(ref);
    if (instance && isContainer(instance)) return instance;
    throw new DomainError('INSTANCE_NOT_FOUND', `There is no container ${ref.namespace}/${ref.name}.`);
  }

  /** Records the imported image that a VM was created from. */
  setImageOf(ref: InstanceRef, image: string): void {
    this.imagesOfVms.set(formatRef(ref), image);
  }

  imageOf(ref: InstanceRef): string | undefined {
    return this.imagesOfVms.get(formatRef(ref));
  }

  setStatus(vm: VirtualMachine, status: VmStatus): void {
    this.put(withStatus(vm, status, vm.node ?? this.chooseNode()));
  }

  setPhase(container: Container, phase: ContainerPhase): void {
    this.put(withPhase(container, phase, container.node ?? this.chooseNode()));
  }

  /** The nodes in turn. */
  chooseNode(): string {
    const ready = this.nodes.filter((node) => node.ready && node.unschedulable === '');
    return ready[this.nextNode++ % ready.length]?.name ?? 'memory-1';
  }

  /** Remembers that an instance was created or has another status. */
  private record(instance: Instance): void {
    const { ref, uid } = instance;
    const before = this.instances.get(formatRef(ref));
    const reason = isVm(instance) ? instance.status : instance.phase;
    if (before?.uid === uid && (isVm(before) ? before.status : before.phase) === reason) return;
    this.recorded.unshift({
      ref: formatRef(ref),
      uid,
      event: {
        time: new Date(0).toISOString(),
        type: 'Normal',
        reason,
        object: `${ref.kind === 'vm' ? 'MemoryVm' : 'MemoryContainer'}/${ref.name}`,
        message: `${ref.name} is ${reason}.`,
      },
    });
    this.recorded.length = Math.min(this.recorded.length, MAX_RECORDED_EVENTS);
  }

  expectReachable(): void {
    if (this.outage) throw this.outage;
  }

  get isReachable(): boolean {
    return this.outage === undefined;
  }

  /** Simulates an outage: every call fails with the error until `reconnect`. */
  disconnect(error = new DomainError('BACKEND_UNREACHABLE', 'The engine in memory does not answer.')): void {
    this.outage = error;
    for (const listener of this.listeners) listener.lost(error);
  }

  reconnect(): void {
    this.outage = undefined;
    for (const listener of this.listeners) listener.listed(this.all());
  }

  /** @throws DomainError INSTANCE_NOT_FOUND, or the error of the outage */
  instance(ref: InstanceRef): Instance {
    return ref.kind === 'vm' ? this.vm(ref) : this.container(ref);
  }

  /** Whether the guest or the program of an instance runs. @throws DomainError like `instance` */
  isRunning(ref: InstanceRef): boolean {
    const instance = this.instance(ref);
    return isVm(instance) ? isRunningStatus(instance.status) : instance.phase === 'Running';
  }

  /** Starts or stops an instance of any kind. */
  setRunning(ref: InstanceRef, on: boolean): void {
    const instance = this.instance(ref);
    if (isVm(instance)) this.setStatus(instance, on ? 'Running' : 'Stopped');
    else this.setPhase(instance, on ? 'Running' : 'Stopped');
  }

  private find(ref: InstanceRef): Instance | undefined {
    this.expectReachable();
    return this.instances.get(formatRef(ref));
  }
}

/** The VM in another status. Its node, address, readiness and agent follow from the status. */
export function withStatus(vm: VirtualMachine, status: VmStatus, node = 'memory-1'): VirtualMachine {
  const isRunning = isRunningStatus(status);
  return {
    ...vm,
    status,
    ready: status === 'Running',
    agentConnected: status === 'Running',
    node: isRunning ? node : undefined,
    ip: isRunning ? '192.0.2.5' : undefined,
    startedAt: isRunning ? (vm.startedAt ?? STARTED_AT) : undefined,
  };
}

/** The container in another phase. Its node and readiness follow from the phase. */
export const withPhase = (container: Container, phase: ContainerPhase, node = 'memory-1'): Container => ({
  ...container,
  phase,
  ready: phase === 'Running',
  node: phase === 'Stopped' ? undefined : node,
});
