import {
  ABILITY_NAMES,
  Backend,
  DEFAULT_NAMESPACE,
  DNS_LABEL_RULE,
  DomainError,
  InstanceInventory,
  InstancePower,
  UnavailableAbility,
  type Abilities,
  type AbilityName,
  type BackendTraits,
  type InstanceRef,
  type InventoryListener,
  type InventoryWatch,
  type Json,
  type PowerAction,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import type { ShelfEngine } from './shelf-engine.js';

export const SHELF_TRAITS: BackendTraits = {
  kind: 'shelf',
  label: 'Shelf',
  namespaces: { default: DEFAULT_NAMESPACE, isOnlyOne: true },
  instanceNames: DNS_LABEL_RULE,
  imageKinds: [],
  placementFields: [],
};

export const SHELF_ABILITIES: readonly AbilityName[] = ['inventory', 'power'];

/** Finds a VM. @throws DomainError INSTANCE_NOT_FOUND; BACKEND_UNREACHABLE without an engine */
function find(engine: ShelfEngine | undefined, ref: InstanceRef): VirtualMachine {
  if (!engine) throw unreachable();
  const vm = engine.find(ref);
  if (!vm) throw new DomainError('INSTANCE_NOT_FOUND', `There is no VM ${ref.name}.`);
  return vm;
}

const unreachable = (): DomainError => new DomainError('BACKEND_UNREACHABLE', 'The shelf does not answer.');

class ShelfInventory extends InstanceInventory {
  constructor(
    private readonly engine: ShelfEngine | undefined,
    private readonly context: string,
  ) {
    super();
  }

  override watch(listener: InventoryListener): InventoryWatch {
    if (!this.engine) {
      listener.lost(unreachable());
      return { stop: async () => undefined };
    }
    listener.listed(this.engine.all());
    const stop = this.engine.subscribe((name, vm) => {
      if (vm) listener.changed(vm);
      else listener.removed({ kind: 'vm', context: this.context, namespace: DEFAULT_NAMESPACE, name });
    });
    return { stop: async () => stop() };
  }

  override async manifest(ref: InstanceRef): Promise<Json> {
    const { uid, status } = find(this.engine, ref);
    return { name: ref.name, uid, status };
  }
}

class ShelfPower extends InstancePower {
  constructor(private readonly engine: ShelfEngine | undefined) {
    super();
  }

  override async apply(ref: InstanceRef, action: PowerAction): Promise<void> {
    const vm = find(this.engine, ref);
    const isStopped = vm.status === 'Stopped';
    if (isStopped && !['start', 'stop'].includes(action)) {
      throw new DomainError('WRONG_STATE', `${ref.name} is stopped.`);
    }
    const status = action === 'stop' ? 'Stopped' : action === 'pause' ? 'Paused' : 'Running';
    if (vm.status !== status) this.engine?.setStatus(vm, status);
  }

  override async staysOn(ref: InstanceRef): Promise<boolean> {
    return find(this.engine, ref).status !== 'Stopped';
  }
}

/** A shelf, or one that does not answer. */
export class ShelfBackend extends Backend {
  override readonly traits = SHELF_TRAITS;
  override readonly containerAbilities: readonly AbilityName[] = [];
  private readonly abilities: { readonly [K in AbilityName]: Abilities[K] | UnavailableAbility };

  constructor(
    override readonly context: string,
    engine?: ShelfEngine,
  ) {
    super();
    const missing = ABILITY_NAMES.map((name) => [name, new UnavailableAbility(`A shelf has no ${name}.`)]);
    this.abilities = {
      ...(Object.fromEntries(missing) as Record<AbilityName, UnavailableAbility>),
      inventory: new ShelfInventory(engine, context),
      power: new ShelfPower(engine),
    };
  }

  override ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility {
    return this.abilities[name];
  }

  override async close(): Promise<void> {}
}
