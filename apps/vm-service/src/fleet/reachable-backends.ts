import {
  Backend,
  BackendDirectory,
  DomainError,
  type Abilities,
  type AbilityName,
  type BackendTraits,
  type UnavailableAbility,
} from '@headgate/domain-contracts';
import type { FleetReader } from '@headgate/fleet';

/**
 * The configured backends, for requests. While the watch knows that a context is lost, a request for it fails
 * immediately: its engine might only answer with a timeout, many seconds later.
 */
export class ReachableBackends extends BackendDirectory {
  private readonly guarded = new WeakMap<Backend, Backend>();

  constructor(
    private readonly backends: BackendDirectory,
    private readonly fleet: FleetReader,
  ) {
    super();
  }

  override all(): readonly Backend[] {
    return this.backends.all().map((backend) => this.guard(backend));
  }

  override get(context: string): Backend {
    return this.guard(this.backends.get(context));
  }

  private guard(backend: Backend): Backend {
    const known = this.guarded.get(backend) ?? new ReachableBackend(backend, this.fleet);
    this.guarded.set(backend, known);
    return known;
  }
}

class ReachableBackend extends Backend {
  override readonly context: string;
  override readonly traits: BackendTraits;

  constructor(
    private readonly backend: Backend,
    private readonly fleet: FleetReader,
  ) {
    super();
    this.context = backend.context;
    this.traits = backend.traits;
  }

  /** Does not check reachability: capabilities and the doctor describe lost contexts as well. */
  override ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility {
    return this.backend.ability(name);
  }

  override get containerAbilities(): readonly AbilityName[] {
    return this.backend.containerAbilities;
  }

  /** @throws DomainError BACKEND_UNREACHABLE while the context is lost, NOT_SUPPORTED */
  override require<K extends AbilityName>(name: K): Abilities[K] {
    const ability = this.backend.require(name);
    const { state, reason } = this.fleet.states().find(({ context }) => context === this.context) ?? {};
    if (state === 'lost') throw new DomainError('BACKEND_UNREACHABLE', `${this.context}: ${reason}`);
    return ability;
  }

  override close(): Promise<void> {
    return this.backend.close();
  }
}
