import {
  Backend,
  UnavailableAbility,
  type Abilities,
  type AbilityName,
  type BackendTraits,
} from '@headgate/domain-contracts';
import { MemoryCluster, MemoryConsoles, MemoryInventory, MemoryPower, MemoryProvisioning } from './memory-abilities.js';
import { MEMORY_TRAITS } from './memory-traits.js';
import { MemoryFleet } from './memory-fleet.js';

/** A backend in memory, for tests of what stands above the ports. It keeps the port contracts like any other. */
export class MemoryBackend extends Backend {
  readonly fleet = new MemoryFleet();
  closed = false;
  private readonly abilities: { readonly [K in AbilityName]: Abilities[K] | UnavailableAbility };

  constructor(
    override readonly context = 'lab',
    override readonly traits: BackendTraits = MEMORY_TRAITS,
  ) {
    super();
    this.abilities = {
      inventory: new MemoryInventory(this.fleet),
      power: new MemoryPower(this.fleet),
      provisioning: new MemoryProvisioning(this.fleet),
      migration: new UnavailableAbility('Memory has nowhere to migrate to.'),
      containers: new UnavailableAbility('There are no containers in memory.'),
      consoles: new MemoryConsoles(this.fleet),
      cluster: new MemoryCluster(this.fleet),
      diagnostics: new UnavailableAbility('Nothing can be wrong in memory.'),
    };
  }

  override ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility {
    return this.abilities[name];
  }

  override async close(): Promise<void> {
    this.closed = true;
  }
}
