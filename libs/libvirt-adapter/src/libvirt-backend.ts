import { join } from 'node:path';
import {
  Backend,
  UnavailableAbility,
  type Abilities,
  type AbilityName,
  type Clock,
  type Log,
  SILENT_LOG,
} from '@headgate/domain-contracts';
import { LibvirtCluster } from './cluster/libvirt-cluster.js';
import { LibvirtConsoles } from './consoles/libvirt-consoles.js';
import { isRemote } from './consoles/ssh-forward.js';
import { LibvirtDiagnostics } from './diagnostics/libvirt-diagnostics.js';
import { DomainFinder } from './domains/domain-finder.js';
import { DomainReader } from './domains/domain-reader.js';
import type { HttpGet } from './fetching/http-get.js';
import { LibvirtInventory } from './inventory/libvirt-inventory.js';
import { LibvirtPower } from './power/libvirt-power.js';
import { StopRequests } from './power/stop-requests.js';
import { BootDiskMaker } from './provisioning/boot-disk-maker.js';
import { DomainEditor } from './provisioning/domain-editor.js';
import { DomainRemover } from './provisioning/domain-remover.js';
import { claimedAccelerator, describeHost, type Accelerator } from './provisioning/host.js';
import { LibvirtProvisioning } from './provisioning/libvirt-provisioning.js';
import { findDiscWriter, writeSeedIso } from './provisioning/seed-iso.js';
import { onceBuilt } from './provisioning/tiny-guest.js';
import { WorkInProgress } from './provisioning/work-in-progress.js';
import { usersOfDisk } from './storage/disk-users.js';
import { findVolume } from './storage/find-volume.js';
import { QemuImg } from './storage/qemu-img.js';
import { defaultPoolPath, StoragePool } from './storage/storage-pool.js';
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
  readonly log?: Log;
  /** Path of the bootable image that is built on the spot; absent where there is none. */
  readonly tinyGuest?: () => Promise<string>;
  /** Found out by running a guest; without it, what libvirt claims counts. */
  readonly accelerator?: () => Promise<Accelerator>;
  readonly fetch?: typeof fetch;
  /** Where the storage pool is made when libvirt has none of this name. */
  readonly poolPath?: string;
  /** Stands for virsh and qemu-img in tests. */
  readonly run?: RunProgram;
}

/** libvirt and QEMU on one machine. Opening it does no I/O: a machine that is away is told through the inventory. */
export class LibvirtBackend extends Backend {
  override readonly kind = 'libvirt';

  private constructor(
    override readonly context: string,
    private readonly abilities: { readonly [K in AbilityName]: Abilities[K] | UnavailableAbility },
    private readonly end: () => Promise<void>,
  ) {
    super();
  }

  static open(options: LibvirtBackendOptions): LibvirtBackend {
    const { context, uri, clock, log = SILENT_LOG, run, dataDir, tinyGuest } = options;
    const virsh = new Virsh({ uri, run });
    const accelerator = options.accelerator ?? claimedAccelerator(virsh);
    const finder = new DomainFinder(context, virsh);
    const stops = new StopRequests(clock);
    const lock = new KeyedLock();
    const folder = join(dataDir, 'libvirt', encodeURIComponent(context));
    const pool = new StoragePool(virsh, POOL_NAME, options.poolPath ?? defaultPoolPath(uri, folder));
    const progress = new WorkInProgress(folder);
    const editor = new DomainEditor(virsh);
    const built = tinyGuest && onceBuilt(tinyGuest, clock);
    const writer = (): Promise<string | undefined> => findDiscWriter(run);
    const http: HttpGet = { fetch: options.fetch ?? fetch, clock };
    const provisioning = new LibvirtProvisioning({
      virsh,
      finder,
      pool,
      editor,
      lock,
      progress,
      clock,
      log,
      remover: new DomainRemover(virsh, finder, pool, editor),
      disks: new BootDiskMaker(pool, new QemuImg(run), http, built?.path),
      describeHost: () => describeHost(virsh, accelerator),
      hasTinyGuest: built !== undefined,
      isTinyGuestBuilt: built?.isBuilt ?? (() => Promise.resolve(false)),
      findDiscWriter: writer,
      writeSeed: (seed, into) => writeSeedIso(seed, into, run),
      findClaim: (claim) => findVolume(virsh, claim, POOL_NAME),
      usersOf: (path) => usersOfDisk(virsh, finder, path),
    });
    const inventory = new LibvirtInventory({
      context,
      virsh,
      finder,
      reader: new DomainReader(virsh),
      stops,
      clock,
      log,
      met: (domain) => void provisioning.removeInterrupted(domain),
    });
    const abilities = {
      inventory,
      power: new LibvirtPower({ virsh, finder, stops, lock }),
      provisioning,
      migration: new UnavailableAbility('Live migration needs a cluster: a libvirt context is one machine.'),
      containers: new UnavailableAbility('Containers need Kubernetes: libvirt runs virtual machines only.'),
      consoles: new LibvirtConsoles(virsh, finder),
      cluster: new LibvirtCluster(virsh, POOL_NAME),
      diagnostics: new LibvirtDiagnostics({
        virsh,
        pool,
        accelerator,
        findDiscWriter: writer,
        isRemote: isRemote(uri),
      }),
    };
    return new LibvirtBackend(context, abilities, async () => {
      stops.close();
      await inventory.close();
      await progress.cancelAll();
    });
  }

  override ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility {
    return this.abilities[name];
  }

  override close(): Promise<void> {
    return this.end();
  }
}

/** The storage pool that holds what this service makes. */
export const POOL_NAME = 'headgate';

export type { Accelerator };
