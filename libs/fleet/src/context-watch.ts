import {
  formatRef,
  plainText,
  UnavailableAbility,
  isSameInstance,
  type Backend,
  type DomainError,
  type Instance,
  type InstanceRef,
  type InventoryListener,
  type InventoryWatch,
} from '@headgate/domain-contracts';
import type { ContextState } from './fleet-entry.js';

/** Receives the changes of one context. */
export interface ContextWatchListener {
  upsert(instance: Instance): void;
  /** `isUnknown`: it is not known whether the instance was deleted. */
  remove(instance: Instance, isUnknown?: boolean): void;
  /** `isReplaced`: the backend is about to be closed, and another one takes its place. */
  state(state: ContextState, isReplaced?: true): void;
}

/** The last known state of a context whose backend is replaced. */
export interface FormerWatch {
  readonly state: ContextState;
  instances(): Iterable<Instance>;
}

/** Watches the inventory of one backend and passes on real changes only. */
export class ContextWatch implements InventoryListener {
  private readonly known = new Map<string, Instance>();
  private readonly watch: InventoryWatch;
  private current: ContextState;
  private isStopped = false;
  /** Whether the instances that are known are those of a former backend, until this one has listed. */
  private isInherited: boolean;

  /** @param former its instances are known until the backend has listed */
  constructor(
    backend: Backend,
    private readonly fleet: ContextWatchListener,
    former?: FormerWatch,
  ) {
    this.isInherited = former !== undefined;
    this.current = former?.state ?? { context: backend.context, kind: backend.kind, state: 'connecting' };
    for (const instance of former?.instances() ?? []) this.known.set(formatRef(instance.ref), instance);
    const inventory = backend.ability('inventory');
    if (inventory instanceof UnavailableAbility)
      throw new Error(`${backend.context} has no inventory: ${inventory.reason}`);
    this.watch = inventory.watch(this);
  }

  get state(): ContextState {
    return this.current;
  }

  instances(): Iterable<Instance> {
    return this.known.values();
  }

  /** Forgets the instances. */
  take(): readonly Instance[] {
    const instances = [...this.known.values()];
    this.known.clear();
    return instances;
  }

  /** Counts as lost from now on. No change is passed on afterwards. */
  suspend(reason: string): Promise<void> {
    this.current = { context: this.current.context, kind: this.current.kind, state: 'lost', reason };
    this.fleet.state(this.current, true);
    return this.stop();
  }

  /** No change is passed on afterwards, although the backend may report some until it has stopped. */
  stop(): Promise<void> {
    this.isStopped = true;
    return this.watch.stop();
  }

  listed(instances: readonly Instance[]): void {
    if (this.isStopped) return;
    const present = new Set(instances.map(({ ref }) => formatRef(ref)));
    // The state comes first, so that the entries below count as live and not as stale.
    this.setState({ context: this.current.context, kind: this.current.kind, state: 'up' });
    for (const [key, instance] of this.known) if (!present.has(key)) this.removed(instance.ref);
    this.isInherited = false;
    for (const instance of instances) this.changed(instance);
  }

  changed(reported: Instance): void {
    if (this.isStopped) return;
    const instance = withPlainReason(reported);
    const key = formatRef(instance.ref);
    const before = this.known.get(key);
    this.known.set(key, instance);
    if (!before || !isSameInstance(before, instance)) this.fleet.upsert(instance);
  }

  removed(ref: InstanceRef): void {
    if (this.isStopped) return;
    const key = formatRef(ref);
    const instance = this.known.get(key);
    if (!instance) return;
    this.known.delete(key);
    this.fleet.remove(instance, this.isInherited);
  }

  lost(error: DomainError): void {
    if (this.isStopped) return;
    this.setState({ context: this.current.context, kind: this.current.kind, state: 'lost', reason: error.message });
  }

  private setState(next: ContextState): void {
    if (next.state === this.current.state && next.reason === this.current.reason) return;
    this.current = next;
    this.fleet.state(next);
  }
}

/** The reason may quote a cluster, a server or a guest. */
function withPlainReason(instance: Instance): Instance {
  const { reason } = instance;
  if (reason === undefined) return instance;
  const plain = plainText(reason);
  return plain === reason ? instance : { ...instance, reason: plain };
}
