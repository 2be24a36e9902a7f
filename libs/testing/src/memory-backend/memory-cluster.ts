import {
  ClusterInventory,
  Diagnostics,
  type ClusterNetwork,
  type ClusterNode,
  type DiagnosticCheck,
  type InstancetypeNames,
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
}

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

  override async fix(): Promise<readonly string[]> {
    const fixed = [...this.engine.faults].filter(([, message]) => message !== '').map(([name]) => name);
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
