import {
  DomainError,
  formatRef,
  type Instance,
  type InstanceRef,
  type InventoryListener,
  type VirtualMachine,
} from '@headgate/domain-contracts';

/** The instances of a MemoryBackend, and those who follow them. */
export class MemoryFleet {
  private readonly instances = new Map<string, Instance>();
  private readonly listeners = new Set<InventoryListener>();
  private away: DomainError | undefined;
  private made = 0;

  /** A uid that was never given before. */
  nextUid(): string {
    return `memory-${++this.made}`;
  }

  follow(listener: InventoryListener): () => void {
    this.listeners.add(listener);
    queueMicrotask(() => {
      if (!this.listeners.has(listener)) return;
      if (this.away) listener.lost(this.away);
      else listener.listed([...this.instances.values()]);
    });
    return () => void this.listeners.delete(listener);
  }

  put(instance: Instance): void {
    this.instances.set(formatRef(instance.ref), instance);
    if (!this.away) for (const listener of this.listeners) listener.changed(instance);
  }

  remove(ref: InstanceRef): void {
    this.instances.delete(formatRef(ref));
    if (!this.away) for (const listener of this.listeners) listener.removed(ref);
  }

  has(ref: InstanceRef): boolean {
    return this.instances.has(formatRef(ref));
  }

  /** @throws DomainError INSTANCE_NOT_FOUND, or what the engine says while it is away */
  vm(ref: InstanceRef): VirtualMachine {
    this.expectHere();
    const instance = this.instances.get(formatRef(ref));
    if (instance?.ref.kind === 'vm') return instance as VirtualMachine;
    throw new DomainError('INSTANCE_NOT_FOUND', `There is no VM ${ref.namespace}/${ref.name}.`);
  }

  expectHere(): void {
    if (this.away) throw this.away;
  }

  /** The engine goes away, and comes back. */
  lose(error: DomainError): void {
    this.away = error;
    for (const listener of this.listeners) listener.lost(error);
  }

  restore(): void {
    this.away = undefined;
    for (const listener of this.listeners) listener.listed([...this.instances.values()]);
  }
}
