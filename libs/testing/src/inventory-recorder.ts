import {
  formatRef,
  isContainer,
  isVm,
  type Container,
  type ContainerPhase,
  type DomainError,
  type Instance,
  type InstanceInventory,
  type InstanceRef,
  type InventoryListener,
  type InventoryWatch,
  type VirtualMachine,
  type VmStatus,
} from '@headgate/domain-contracts';

interface Waiter {
  readonly isMet: () => boolean;
  readonly resolve: () => void;
}

/** Watches an inventory and records its calls, so that a test can wait for a state instead of a time. */
export class InventoryRecorder implements InventoryListener {
  readonly instances = new Map<string, Instance>();
  /** The calls in order: `listed`, `changed vm/…`, `removed vm/…`, `lost CODE`. */
  readonly calls: string[] = [];
  private readonly waiters = new Set<Waiter>();
  private watch?: InventoryWatch;

  static over(inventory: InstanceInventory): InventoryRecorder {
    const recorder = new InventoryRecorder();
    recorder.watch = inventory.watch(recorder);
    return recorder;
  }

  listed(instances: readonly Instance[]): void {
    this.instances.clear();
    for (const instance of instances) this.instances.set(formatRef(instance.ref), instance);
    this.record('listed');
  }

  changed(instance: Instance): void {
    this.instances.set(formatRef(instance.ref), instance);
    this.record(`changed ${formatRef(instance.ref)}`);
  }

  removed(ref: InstanceRef): void {
    this.instances.delete(formatRef(ref));
    this.record(`removed ${formatRef(ref)}`);
  }

  lost(error: DomainError): void {
    this.record(`lost ${error.code}`);
  }

  vm(ref: InstanceRef): VirtualMachine | undefined {
    const found = this.instances.get(formatRef(ref));
    return found && isVm(found) ? found : undefined;
  }

  container(ref: InstanceRef): Container | undefined {
    const found = this.instances.get(formatRef(ref));
    return found && isContainer(found) ? found : undefined;
  }

  /** A VM or a container. */
  instance(ref: InstanceRef): Instance | undefined {
    return this.instances.get(formatRef(ref));
  }

  /** The status of a VM, or the phase of a container. */
  stateOf(ref: InstanceRef): VmStatus | ContainerPhase | undefined {
    const found = this.instance(ref);
    return found && (isVm(found) ? found.status : found.phase);
  }

  /** Resolves once the condition holds. */
  until(isMet: () => boolean): Promise<void> {
    if (isMet()) return Promise.resolve();
    return new Promise((resolve) => this.waiters.add({ isMet, resolve }));
  }

  whenListed(): Promise<void> {
    return this.until(() => this.calls.includes('listed'));
  }

  /** Resolves with the VM as it was when the condition held: it may have changed again since. */
  async untilVm(ref: InstanceRef, isMet: (vm: VirtualMachine) => boolean): Promise<VirtualMachine> {
    return this.untilFound(() => {
      const vm = this.vm(ref);
      return vm && isMet(vm) ? vm : undefined;
    });
  }

  /** Resolves with the container as it was when the condition held. */
  async untilContainer(ref: InstanceRef, isMet: (container: Container) => boolean): Promise<Container> {
    return this.untilFound(() => {
      const container = this.container(ref);
      return container && isMet(container) ? container : undefined;
    });
  }

  async stop(): Promise<void> {
    await this.watch?.stop();
  }

  private async untilFound<T extends Instance>(find: () => T | undefined): Promise<T> {
    let found: T | undefined;
    await this.until(() => (found = find()) !== undefined);
    return found as T;
  }

  private record(call: string): void {
    this.calls.push(call);
    for (const waiter of this.waiters) {
      if (!waiter.isMet()) continue;
      this.waiters.delete(waiter);
      waiter.resolve();
    }
  }
}
