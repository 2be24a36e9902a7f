import { Backend, Lacking, type Abilities, type AbilityName, type Clock } from '@headgate/domain-contracts';
import { SILENT_LOG, type AdapterLog } from './adapter-log.js';
import { LibvirtCluster } from './cluster/libvirt-cluster.js';
import { LibvirtConsoles } from './consoles/libvirt-consoles.js';
import { DomainFinder } from './domains/domain-finder.js';
import { DomainReader } from './domains/domain-reader.js';
import { LibvirtInventory } from './inventory/libvirt-inventory.js';
import { LibvirtPower } from './power/libvirt-power.js';
import { StopRequests } from './power/stop-requests.js';
import { KeyedLock } from './virsh/keyed-lock.js';
import type { RunProgram } from './virsh/run-program.js';
import { Virsh } from './virsh/virsh.js';

export interface LibvirtBackendOptions {
  /** The name that the operator gave it. */
  readonly context: string;
  /** https://libvirt.org/uri.html */
  readonly uri: string;
  /** A private folder for what is being fetched. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log?: AdapterLog;
  /** Path of the bootable image that is built on the spot; absent where there is none. */
  readonly tinyGuest?: () => Promise<string>;
  /** Found out by running a guest; without it, what libvirt claims counts. */
  readonly accelerator?: () => Promise<Accelerator>;
  readonly fetch?: typeof fetch;
  /** Stands for virsh and qemu-img in tests. */
  readonly run?: RunProgram;
}

/** `kvm`: the processor runs the guest. `tcg`: QEMU emulates it in software. */
export type Accelerator = 'kvm' | 'tcg';

/** libvirt and QEMU on one machine. Opening it does no I/O: a machine that is away is told through the inventory. */
export class LibvirtBackend extends Backend {
  override readonly kind = 'libvirt';

  private constructor(
    override readonly context: string,
    private readonly abilities: { readonly [K in AbilityName]: Abilities[K] | Lacking },
    private readonly end: () => Promise<void>,
  ) {
    super();
  }

  static open({ context, uri, clock, log = SILENT_LOG, run }: LibvirtBackendOptions): LibvirtBackend {
    const virsh = new Virsh({ uri, run });
    const finder = new DomainFinder(context, virsh);
    const reader = new DomainReader(virsh);
    const stops = new StopRequests(clock);
    const lock = new KeyedLock();
    const inventory = new LibvirtInventory({ context, virsh, finder, reader, stops, clock, log });
    return new LibvirtBackend(
      context,
      {
        inventory,
        power: new LibvirtPower({ virsh, finder, stops, lock }),
        provisioning: new Lacking('Making VMs on libvirt is not wired yet.'),
        migration: new Lacking('Live migration needs a cluster: a libvirt context is one machine.'),
        containers: new Lacking('Containers need Kubernetes: libvirt runs virtual machines only.'),
        consoles: new LibvirtConsoles(virsh, finder),
        cluster: new LibvirtCluster(virsh, POOL_NAME),
        diagnostics: new Lacking('Diagnostics are not wired yet.'),
      },
      async () => {
        stops.close();
        await inventory.close();
      },
    );
  }

  override ability<K extends AbilityName>(name: K): Abilities[K] | Lacking {
    return this.abilities[name];
  }

  override close(): Promise<void> {
    return this.end();
  }
}

/** The storage pool that holds what this service makes. */
export const POOL_NAME = 'headgate';
