import { Backend, type Abilities, type AbilityName, type UnavailableAbility } from '@headgate/domain-contracts';
import { openAbilities } from './abilities.js';
import type { LibvirtEngineOptions } from './engine/engine-options.js';
import { openEngine } from './engine/open-engine.js';
import { LIBVIRT_TRAITS } from './libvirt-traits.js';
import type { MigrationHost } from './migration/migration-host.js';
import { migrationHostOf, type MigrationOptions } from './migration/open-migration.js';

export interface LibvirtBackendOptions extends LibvirtEngineOptions, MigrationOptions {
  /** Builds the local image and returns its path; absent where there is none. */
  readonly tinyGuest?: () => Promise<string>;
  /** The folder of the guest that reads files, with its kernel and its RAM disk; absent where there is none. */
  readonly readerGuest?: string;
  /** All backends of the service, among them this one: running guests are migrated to those of this kind. */
  readonly peers?: () => readonly Backend[];
}

/**
 * libvirt and QEMU on one machine. Opening it does no I/O: an unreachable machine is reported through the inventory.
 */
export class LibvirtBackend extends Backend {
  override readonly traits = LIBVIRT_TRAITS;
  override readonly containerAbilities: readonly AbilityName[] = [];

  private constructor(
    override readonly context: string,
    private readonly abilities: { readonly [K in AbilityName]: Abilities[K] | UnavailableAbility },
    /** This context as one end of a migration. */
    private readonly migrationHost: MigrationHost,
    private readonly closeAll: () => Promise<void>,
  ) {
    super();
  }

  static open(options: LibvirtBackendOptions): LibvirtBackend {
    const { context, peers, tinyGuest, readerGuest } = options;
    const engine = openEngine(options);
    const self = migrationHostOf(engine, options);
    const otherHosts = (): MigrationHost[] => LibvirtBackend.hostsAmong(peers?.() ?? [], context);
    const { abilities, close } = openAbilities(engine, { self, otherHosts, tinyGuest, readerGuest });
    return new LibvirtBackend(context, abilities, self, close);
  }

  override ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility {
    return this.abilities[name];
  }

  override close(): Promise<void> {
    return this.closeAll();
  }

  private static hostsAmong(backends: readonly Backend[], context: string): MigrationHost[] {
    return backends.flatMap((backend) =>
      backend instanceof LibvirtBackend && backend.context !== context ? [backend.migrationHost] : [],
    );
  }
}
