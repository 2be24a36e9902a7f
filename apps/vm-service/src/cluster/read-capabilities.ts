import { Inject, Injectable } from '@nestjs/common';
import type { CapabilitiesView, ContextCapabilitiesView } from '@headgate/api-contracts';
import {
  ABILITY_NAMES,
  DiskBuilder,
  DomainError,
  ImageCatalog,
  INSTANCE_ABILITIES,
  UnavailableAbility,
  type Backend,
  BackendDirectory,
  type BackendTraits,
  type InstanceProvisioning,
  type StorageCapabilities,
} from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import type { ChosenContexts } from '../composition/choose-contexts.js';
import { canUseImage } from '../images/can-use-image.js';
import { CONTEXTS } from '../platform/tokens.js';

type VmSources = ReturnType<InstanceProvisioning['sources']>;

const NO_STORAGE: StorageCapabilities = { storageClass: '', canExpand: false, canSnapshot: false };

/** Reports the capabilities of each context, from its backend's traits and abilities. */
@Injectable()
export class ReadCapabilities {
  constructor(
    private readonly backends: BackendDirectory,
    private readonly fleet: FleetReader,
    private readonly catalog: ImageCatalog,
    private readonly disks: DiskBuilder,
    @Inject(CONTEXTS) private readonly contexts: Pick<ChosenContexts, 'simulated'>,
  ) {}

  /**
   * Waits until each context was listed or found to be lost.
   * @throws DomainError BACKEND_UNREACHABLE when none can be reached
   */
  async read(): Promise<CapabilitiesView> {
    await this.fleet.whenSynced();
    const canBuild = await this.disks.availability();
    const contexts = this.backends.all().map((backend) => this.contextOf(backend, canBuild));
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

  private contextOf(backend: Backend, canBuild: true | string): ContextCapabilitiesView {
    const state = this.fleet.states().find(({ context }) => context === backend.context);
    const provisioning = backend.ability('provisioning');
    const {
      kind,
      label,
      namespaces,
      instanceNames,
      imageKinds,
      placementFields,
      isSingleHost = false,
    } = backend.traits;
    return {
      context: backend.context,
      backend: kind,
      label,
      namespaces: { ...namespaces },
      instanceNames: { ...instanceNames },
      imageKinds: [...imageKinds],
      isSingleHost,
      placementFields: [...placementFields],
      up: state?.state === 'up',
      ...(state?.reason === undefined ? {} : { reason: state.reason }),
      simulated: this.contexts.simulated.has(backend.context),
      abilities: Object.fromEntries(ABILITY_NAMES.map((name) => [name, trueOrReason(backend.ability(name))])),
      containerAbilities: Object.fromEntries(
        INSTANCE_ABILITIES.map((name) => [name, trueOrReason(backend.abilityFor('ct', name))]),
      ),
      sources:
        provisioning instanceof UnavailableAbility
          ? {}
          : this.sourcesOf(backend.traits, provisioning.sources(), this.canBuildFor(backend, canBuild)),
    };
  }

  /** A context that builds disks itself needs the plugin only. */
  private canBuildFor(backend: Backend, canBuildHere: true | string): true | string {
    return backend.ability('diskBuilds') instanceof UnavailableAbility ? canBuildHere : this.disks.canPlan();
  }

  /** The source `image` needs an image in the catalog that the context can use, and `bootc` a builder of disks. */
  private sourcesOf({ imageKinds }: BackendTraits, supported: VmSources, canBuild: true | string): VmSources {
    const sources = { ...supported, bootc: supported.bootc === true ? canBuild : supported.bootc };
    if (sources.image !== true) return sources;
    if (this.catalog.entries().some((entry) => canUseImage(entry, { imageKinds, sources }))) return sources;
    return { ...sources, image: NO_IMAGE };
  }

  /** Empty for a backend that can't be reached; its `reason` is reported. */
  private async storageOf(backend: Backend): Promise<StorageCapabilities> {
    try {
      return await backend.require('cluster').storage();
    } catch {
      return NO_STORAGE;
    }
  }
}

const NO_IMAGE =
  'The catalog has no image for this context. Import an image, add a source, or set images in the configuration.';

const trueOrReason = (ability: object): true | string =>
  ability instanceof UnavailableAbility ? ability.reason : true;
