import type { CapabilitiesView, ContextCapabilitiesView } from '@headgate/api-contracts';
import {
  ABILITY_NAMES,
  DomainError,
  UnavailableAbility,
  type Backend,
  type BackendDirectory,
  type StorageCapabilities,
} from '@headgate/domain-contracts';
import type { Fleet } from '@headgate/fleet';

const NO_STORAGE: StorageCapabilities = { storageClass: '', canExpand: false, canSnapshot: false };

/** Tells what each context can do, from the one place that knows: the backend's abilities. */
export class ReadCapabilities {
  constructor(
    private readonly backends: BackendDirectory,
    private readonly fleet: Fleet,
    private readonly simulated: ReadonlySet<string>,
  ) {}

  /** Waits until each context was heard of. @throws DomainError BACKEND_UNREACHABLE when none can be reached */
  async read(): Promise<CapabilitiesView> {
    await this.fleet.whenSynced();
    const contexts = this.backends.all().map((backend) => this.contextOf(backend));
    const storages = await Promise.all(this.backends.all().map((backend) => this.storageOf(backend)));
    if (contexts.length > 0 && contexts.every(({ up }) => !up)) {
      throw new DomainError(
        'BACKEND_UNREACHABLE',
        contexts.map(({ context, reason }) => `${context}: ${reason}`).join(' '),
      );
    }
    return {
      storageClass: storages.find(({ storageClass }) => storageClass !== '')?.storageClass ?? '',
      canExpand: storages.some(({ canExpand }) => canExpand),
      canSnapshot: storages.some(({ canSnapshot }) => canSnapshot),
      bootc: contexts.some(({ sources }) => sources['bootc'] === true),
      contexts,
    };
  }

  private contextOf(backend: Backend): ContextCapabilitiesView {
    const state = this.fleet.states().find(({ context }) => context === backend.context);
    const provisioning = backend.ability('provisioning');
    return {
      context: backend.context,
      backend: backend.kind,
      up: state?.state === 'up',
      ...(state?.reason === undefined ? {} : { reason: state.reason }),
      simulated: this.simulated.has(backend.context),
      abilities: Object.fromEntries(ABILITY_NAMES.map((name) => [name, trueOrReason(backend.ability(name))])),
      sources: provisioning instanceof UnavailableAbility ? {} : { ...provisioning.sources() },
    };
  }

  /** A backend that is away has no storage right now; its `reason` says so. */
  private async storageOf(backend: Backend): Promise<StorageCapabilities> {
    const cluster = backend.ability('cluster');
    if (cluster instanceof UnavailableAbility) return NO_STORAGE;
    return cluster.storage().catch(() => NO_STORAGE);
  }
}

const trueOrReason = (ability: object): true | string =>
  ability instanceof UnavailableAbility ? ability.reason : true;
