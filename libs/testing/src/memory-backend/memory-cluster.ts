import {
  ClusterInventory,
  Diagnostics,
  DomainError,
  formatRef,
  isRunningStatus,
  isVm,
  type AffectedInstance,
  type ClusterNetwork,
  type ClusterNode,
  type ClusterStorage,
  type DiagnosticCheck,
  type Instance,
  type InstanceRef,
  type InstancetypeNames,
  type NetworkDetails,
  type NodeFailure,
  type StorageCapabilities,
  type StorageSpace,
} from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';

export class MemoryCluster extends ClusterInventory {
  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async nodes(): Promise<readonly ClusterNode[]> {
    this.engine.expectReachable();
    return [...this.engine.nodes];
  }

  override async storage(): Promise<StorageCapabilities> {
    this.engine.expectReachable();
    return { storageClass: 'memory', canExpand: false, canSnapshot: false };
  }

  override async storageSpace(): Promise<readonly StorageSpace[]> {
    this.engine.expectReachable();
    return [{ storage: 'memory', freeBytes: this.engine.freeBytes, requiredBytes: 1024 ** 3 }];
  }

  override async instancetypes(): Promise<InstancetypeNames> {
    this.engine.expectReachable();
    const sizes = [{ name: 'u1.small', cpu: 1, memoryBytes: 2 * 1024 ** 3 }];
    return { instancetypes: ['u1.small'], preferences: ['debian'], sizes };
  }

  override async networks(): Promise<readonly ClusterNetwork[]> {
    this.engine.expectReachable();
    return [{ namespace: 'default', name: 'lan' }];
  }

  override async storages(): Promise<readonly ClusterStorage[]> {
    this.engine.expectReachable();
    const vms = this.engine.all().filter(isVm);
    const allocatedBytes = vms.reduce((sum, { diskBytes }) => sum + diskBytes, 0);
    return [
      {
        kind: 'pool',
        name: 'memory',
        type: 'dir',
        isDefault: true,
        isActive: true,
        capacityBytes: this.engine.freeBytes + allocatedBytes,
        allocatedBytes,
        freeBytes: this.engine.freeBytes,
        spaceUnknown: '',
        volumes: vms.length,
        canExpand: false,
        claimModes: [],
        segments: [],
        users: sorted(vms.map(({ ref }) => ref)),
      },
    ];
  }

  override async networkDetails(): Promise<readonly NetworkDetails[]> {
    this.engine.expectReachable();
    const users = sorted(
      this.engine
        .all()
        .filter(isVm)
        .map(({ ref }) => ref),
    );
    const dhcp = [{ start: '192.0.2.10', end: '192.0.2.99' }];
    const lan = { namespace: 'default', name: 'lan', mode: 'nat', bridge: 'lan0', isActive: true };
    return [{ ...lan, addresses: ['192.0.2.1/24'], dhcp, users }];
  }

  /** Starts VMs on another node that is ready, and no containers. */
  override async failureOf(node: string): Promise<NodeFailure> {
    const nodes = await this.nodes();
    if (!nodes.some(({ name }) => name === node))
      throw new DomainError('NODE_NOT_FOUND', `There is no node named ${node}.`);
    const candidates = nodes
      .filter(({ name, ready, unschedulable }) => name !== node && ready && unschedulable === '')
      .map(({ name }) => name);
    const running = this.engine.all().filter((one) => one.node === node && isRunning(one));
    const instances = running.map((one): AffectedInstance => ({
      ref: one.ref,
      cpu: one.cpu,
      memoryBytes: one.memoryBytes,
      staysDown: isVm(one) ? '' : 'A container in memory stays on its node.',
      candidates: isVm(one) ? candidates : [],
      unchecked: [],
    }));
    return { cpusPerCpu: 1, instances, unchecked: [] };
  }
}

const isRunning = (instance: Instance): boolean =>
  isVm(instance) ? isRunningStatus(instance.status) : instance.phase === 'Running';

const sorted = (refs: readonly InstanceRef[]): InstanceRef[] =>
  [...refs].sort((a, b) => (formatRef(a) < formatRef(b) ? -1 : 1));

/** Passes unless a test put a fault into the engine. */
export class MemoryDiagnostics extends Diagnostics {
  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async checks(): Promise<readonly DiagnosticCheck[]> {
    const faults = [...this.engine.faults].map(([name, message]): DiagnosticCheck =>
      message === ''
        ? { name, status: 'ok', message: 'It works.', fixable: false, remedy: '' }
        : { name, status: 'warning', message, fixable: true, remedy: 'Fix it here.' },
    );
    return [this.connection(), ...faults];
  }

  override async fix(names?: readonly string[]): Promise<readonly string[]> {
    const fixed = [...this.engine.faults]
      .filter(([name, message]) => message !== '' && (names?.includes(name) ?? true))
      .map(([name]) => name);
    for (const name of fixed) this.engine.faults.set(name, '');
    return fixed;
  }

  private connection(): DiagnosticCheck {
    const check = { name: 'memory', fixable: false };
    return this.engine.isReachable
      ? { ...check, status: 'ok', message: 'The engine answers.', remedy: '' }
      : { ...check, status: 'error', message: 'The engine does not answer.', remedy: 'Reconnect it.' };
  }
}
