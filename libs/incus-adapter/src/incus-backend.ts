import { Backend, type Abilities, type AbilityName, type UnavailableAbility } from '@headgate/domain-contracts';
import { openAbilities } from './abilities.js';
import { openEngine, type IncusEngineOptions } from './engine/open-engine.js';
import { namespaceOf } from './engine/api-names.js';
import { DEFAULT_PROJECT, INCUS_TRAITS } from './incus-traits.js';

export type IncusBackendOptions = IncusEngineOptions;

const CONTAINER_ABILITIES: readonly AbilityName[] = [
  'inventory',
  'hardware',
  'containers',
  'containerTransfer',
  'consoles',
  'events',
  'metrics',
  'snapshots',
  'cloning',
];

/** One server of Incus or LXD, or one project of it. Opening it does no I/O: the inventory reports its state. */
export class IncusBackend extends Backend {
  override readonly traits;
  override readonly containerAbilities = CONTAINER_ABILITIES;

  private constructor(
    override readonly context: string,
    project: string | undefined,
    private readonly abilities: { readonly [K in AbilityName]: Abilities[K] | UnavailableAbility },
    private readonly closeAll: () => Promise<void>,
  ) {
    super();
    const namespaces = { default: namespaceOf(project ?? DEFAULT_PROJECT), isOnlyOne: project !== undefined };
    this.traits = { ...INCUS_TRAITS, namespaces };
  }

  static open(options: IncusBackendOptions): IncusBackend {
    const { abilities, close } = openAbilities(openEngine(options));
    return new IncusBackend(options.context, options.project, abilities, close);
  }

  override ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility {
    return this.abilities[name];
  }

  override close(): Promise<void> {
    return this.closeAll();
  }
}
