import type { InstanceRef, VirtualMachine, VmStatus } from '@headgate/domain-contracts';

/** An engine that a team elsewhere has: it keeps records of VMs, and reports their changes. */
export class ShelfEngine {
  private readonly vms = new Map<string, VirtualMachine>();
  private readonly listeners = new Set<(name: string, vm: VirtualMachine | undefined) => void>();
  private lastId = 0;

  all(): readonly VirtualMachine[] {
    return [...this.vms.values()];
  }

  find(ref: InstanceRef): VirtualMachine | undefined {
    return ref.kind === 'vm' ? this.vms.get(ref.name) : undefined;
  }

  create(vm: Omit<VirtualMachine, 'uid'>): void {
    this.put({ ...vm, uid: `shelf-${++this.lastId}` });
  }

  setStatus(vm: VirtualMachine, status: VmStatus): void {
    const { node: _node, startedAt = new Date().toISOString(), ...rest } = vm;
    const runs = status !== 'Stopped';
    this.put({ ...rest, status, ready: status === 'Running', ...(runs && { node: 'board-1', startedAt }) });
  }

  delete({ name }: InstanceRef): void {
    this.vms.delete(name);
    for (const listener of this.listeners) listener(name, undefined);
  }

  subscribe(listener: (name: string, vm: VirtualMachine | undefined) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private put(vm: VirtualMachine): void {
    this.vms.set(vm.ref.name, vm);
    for (const listener of this.listeners) listener(vm.ref.name, vm);
  }
}
