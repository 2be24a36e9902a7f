import { join } from 'node:path';
import {
  EgressPolicy,
  PartialDownloads,
  SPACE_WATERMARK_BYTES,
  SpaceGuard,
  type Downloads,
  type FreeSpace,
} from '@headgate/downloads';
import {
  Backend,
  UnavailableAbility,
  type Abilities,
  type AbilityName,
  type Clock,
  type Log,
  SILENT_LOG,
} from '@headgate/domain-contracts';
import { LibvirtBackups } from './backups/libvirt-backups.js';
import { LibvirtCluster } from './cluster/libvirt-cluster.js';
import { LibvirtCloning } from './cloning/libvirt-cloning.js';
import { LibvirtConsoles } from './consoles/libvirt-consoles.js';
import { LibvirtDiagnostics } from './diagnostics/libvirt-diagnostics.js';
import { LibvirtDiskMove } from './disk-move/libvirt-disk-move.js';
import { DomainFinder } from './domains/domain-finder.js';
import { DomainReader } from './domains/domain-reader.js';
import { EventJournal } from './events/event-journal.js';
import { LibvirtEvents } from './events/libvirt-events.js';
import { LibvirtExport } from './export/libvirt-export.js';
import { LibvirtGuestControl } from './guests/libvirt-guest-control.js';
import { LibvirtGuestInspection } from './guests/libvirt-guest-inspection.js';
import { LibvirtHardware } from './hardware/libvirt-hardware.js';
import { defaultInterfaces } from './host-resources/default-interfaces.js';
import { LibvirtHostResources } from './host-resources/libvirt-host-resources.js';
import { LibvirtImages } from './images/libvirt-images.js';
import { LibvirtInventory } from './inventory/libvirt-inventory.js';
import { OsinfoDatabase } from './guest-profiles/osinfo-database.js';
import { LIBVIRT_TRAITS } from './libvirt-traits.js';
import type { LibvirtConnection } from './connection/libvirt-connection.js';
import { FallbackConnection } from './connection/fallback-connection.js';
import { RpcLibvirt } from './rpc/rpc-libvirt.js';
import { LibvirtDiskIngest } from './moves/libvirt-disk-ingest.js';
import { LibvirtDiskSource } from './moves/libvirt-disk-source.js';
import { LibvirtLiveDisks } from './moves/libvirt-live-disks.js';
import { LibvirtMetrics } from './metrics/libvirt-metrics.js';
import { LibvirtMigration } from './migration/libvirt-migration.js';
import type { MigrationHost, MigrationTransport } from './migration/migration-host.js';
import { GuestNetwork } from './network/guest-network.js';
import { LibvirtPower } from './power/libvirt-power.js';
import { StopRequests } from './domains/stop-requests.js';
import { BootDiskBuilder } from './provisioning/boot-disk-builder.js';
import { DomainEditor } from './domains/domain-editor.js';
import { DomainRemover } from './removal/domain-remover.js';
import { HostLock } from './host-lock/host-lock.js';
import { describeHost, isRemote, reportedAccelerator, type Accelerator } from './host/host.js';
import { LibvirtProvisioning } from './provisioning/libvirt-provisioning.js';
import { findDiscWriter, writeSeedIso } from './seeds/seed-iso.js';
import { SeedRemoval } from './seeds/seed-removal.js';
import { DiskHolds } from './locks/disk-holds.js';
import { LayerMerger } from './snapshots/layer-merger.js';
import { LibvirtSnapshots } from './snapshots/libvirt-snapshots.js';
import { TpmState } from './snapshots/tpm-state.js';
import { sharedBuild } from './provisioning/local-image.js';
import { WorkInProgress } from './work-in-progress/work-in-progress.js';
import { BaseImageIndex } from './storage/base-image-index.js';
import { BaseImages } from './storage/base-images.js';
import { BaseReferences } from './storage/base-references.js';
import { DiskIoProbe } from './storage/disk-io.js';
import { DiskUsage } from './storage/disk-usage.js';
import { findVolume } from './storage/find-volume.js';
import { JsonIndex } from './storage/json-index.js';
import { QemuImg } from './storage/qemu-img.js';
import { defaultPoolPath, StoragePool } from './storage/storage-pool.js';
import { KeyedLock } from './locks/concurrency.js';
import type { RunProgram } from './programs/run-program.js';
import { VirshConnection } from './virsh/virsh-connection.js';

export interface LibvirtBackendOptions {
  /** The name that the operator gave it. */
  readonly context: string;
  /** https://libvirt.org/uri.html */
  readonly uri: string;
  /** A private folder for downloads. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log?: Log;
  /** Builds the local image and returns its path; absent where there is none. */
  readonly tinyGuest?: () => Promise<string>;
  /** The result of a probe; defaults to the capabilities that libvirt reports. */
  readonly accelerator?: () => Promise<Accelerator>;
  /** Exceptions from the ranges to which downloads may not connect: addresses, ranges and host names. */
  readonly importAllow?: readonly string[];
  /** The location of the storage pool if it has to be created. */
  readonly poolPath?: string;
  /** All backends of the service, among them this one: running guests are migrated to those of this kind. */
  readonly peers?: () => readonly Backend[];
  /** The host name or address at which other hosts reach this one for migrations, and where its QEMU accepts them. */
  readonly migrationAddress?: string;
  /** How guests come from and go to other machines: `insecure` is neither encrypted nor authenticated. Default: they don't. */
  readonly migrationTransport?: MigrationTransport;
  /** Replaces the measurement of free space in tests. */
  readonly freeSpace?: FreeSpace;
  /** Replaces the way to libvirt; closed with the backend. */
  readonly connection?: LibvirtConnection;
  /** Replaces virsh and qemu-img in tests. */
  readonly run?: RunProgram;
}

interface ConnectDeps {
  readonly uri: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly virsh: LibvirtConnection;
  /** A simulated virsh has no daemon behind it. */
  readonly isSimulated: boolean;
}

const connect = ({ uri, clock, log, virsh, isSimulated }: ConnectDeps): LibvirtConnection =>
  isSimulated ? virsh : new FallbackConnection(new RpcLibvirt({ uri, timers: clock }), virsh, log);

/** libvirt and QEMU on one machine. Opening it does no I/O: an unreachable machine is reported through the inventory. */
export class LibvirtBackend extends Backend {
  override readonly traits = LIBVIRT_TRAITS;

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
    const { context, uri, clock, log = SILENT_LOG, run, dataDir, tinyGuest } = options;
    const folder = join(dataDir, 'libvirt', encodeURIComponent(context));
    const progress = new WorkInProgress(folder);
    const virsh = new VirshConnection({
      uri,
      run,
      createTemporaryFolder: () => progress.createTemporaryFolder(),
    });
    const connection = options.connection ?? connect({ uri, clock, log, virsh, isSimulated: run !== undefined });
    const accelerator = options.accelerator ?? reportedAccelerator(connection);
    const finder = new DomainFinder(context, connection);
    const stops = new StopRequests(clock);
    const pool = new StoragePool(connection, POOL_NAME, options.poolPath ?? defaultPoolPath(uri, folder), clock);
    const local = new KeyedLock();
    // A simulated virsh has no other clients.
    const lock = run === undefined ? new HostLock({ pool, clock, log, local }) : local;
    const editor = new DomainEditor(connection, lock);
    const localImage = tinyGuest && sharedBuild(tinyGuest, clock);
    const writer = (): Promise<string | undefined> => findDiscWriter(run);
    const egress = new EgressPolicy({ allow: options.importAllow });
    const downloads: Downloads = {
      http: { egress, clock },
      space: new SpaceGuard(folder, options.freeSpace),
      partials: new PartialDownloads(join(folder, 'partial'), clock),
    };
    const network = new GuestNetwork(connection);
    const diskIo = new DiskIoProbe(pool, {
      run,
      isRemote: isRemote(uri),
      createTemporaryFolder: () => progress.createTemporaryFolder(),
    });
    const bases = new BaseImages({
      pool,
      index: new BaseImageIndex(join(folder, 'base-images.json')),
      references: new BaseReferences(connection, finder),
      service: () => progress.mark(),
      clock,
      log,
      watermarkBytes: SPACE_WATERMARK_BYTES,
    });
    const remover = new DomainRemover(connection, finder, pool, editor, bases);
    const images = new QemuImg(run);
    const importedImages = new LibvirtImages({
      context,
      namespace: LIBVIRT_TRAITS.namespaces.default,
      pool,
      records: new JsonIndex(join(folder, 'imported-images.json')),
      references: new BaseReferences(connection, finder),
      readUsage: () => DiskUsage.read(connection, finder),
      progress,
      images,
      downloads,
      // Imported images belong to one service.
      lock: new KeyedLock(),
      clock,
      log,
    });
    const provisioning = new LibvirtProvisioning({
      connection,
      finder,
      pool,
      editor,
      lock,
      progress,
      clock,
      log,
      remover,
      disks: new BootDiskBuilder({
        pool,
        bases,
        images,
        downloads,
        imported: importedImages,
        tinyGuest: localImage?.path,
      }),
      imported: importedImages,
      bases,
      describeHost: () => describeHost(connection, network, accelerator),
      network,
      profiles: new OsinfoDatabase(),
      diskIo: () => diskIo.probe(),
      egress,
      hasSpaceForDownloads: () => downloads.space.isAvailable(),
      hasTinyGuest: localImage !== undefined,
      isTinyGuestBuilt: localImage?.isBuilt ?? (() => Promise.resolve(false)),
      findDiscWriter: writer,
      writeSeed: (seed, into) => writeSeedIso(seed, into, run),
      findClaim: (claim) => findVolume(connection, claim, POOL_NAME),
      usersOf: async (path) => (await DiskUsage.read(connection, finder)).usersOf(path),
    });
    const journal = new EventJournal(() => clock.iso());
    const changes = { connection, pool, editor, lock, clock, log, finder, service: () => progress.mark() };
    const holds = new DiskHolds();
    const merger = new LayerMerger({ ...changes, images });
    const snapshots = new LibvirtSnapshots({ ...changes, merger, holds, tpm: new TpmState(uri) });
    const diskMove = new LibvirtDiskMove({ ...changes, holds });
    const streams = { clock, createTemporaryFolder: () => progress.createTemporaryFolder(), run };
    const backups = new LibvirtBackups({ ...changes, ...streams, images, holds });
    const hostDevices = {
      ...{ connection, finder },
      defaultInterfaces: () => (isRemote(uri) ? Promise.resolve([]) : defaultInterfaces()),
    };
    const hardware = new LibvirtHardware({
      ...{ ...hostDevices, pool, editor, lock, stops, clock, log },
      mark: () => progress.mark(),
      onResized: (domain) => inventory.reread(domain),
      describeHost: () => describeHost(connection, network, accelerator),
    });
    const migrationHost: MigrationHost = {
      ...{ context, connection, finder, pool },
      ...(options.migrationAddress !== undefined && { migrationAddress: options.migrationAddress }),
      ...(options.migrationTransport !== undefined && { migrationTransport: options.migrationTransport }),
    };
    const otherHosts = (): MigrationHost[] => LibvirtBackend.hostsAmong(options.peers?.() ?? [], context);
    const migration = new LibvirtMigration({
      ...{ editor, remover, lock, holds, clock, log },
      self: migrationHost,
      others: otherHosts,
      createTemporaryFolder: () => progress.createTemporaryFolder(),
      service: () => progress.mark(),
    });
    if (options.migrationTransport === 'insecure')
      log.warn({ context }, 'live migrations of this context are neither encrypted nor authenticated');
    const seeds = new SeedRemoval({ connection, pool, editor, lock, clock, log });
    const inventory: LibvirtInventory = new LibvirtInventory({
      context,
      connection,
      finder,
      reader: new DomainReader(connection),
      stops,
      clock,
      log,
      onFirstWatch: () => {
        void progress.sweep();
        void downloads.partials.sweep();
        void bases.sweep();
        void importedImages.sweep();
      },
      observer: seeds,
      canMigrate: () => otherHosts().length > 0,
      onEvent: (event) => journal.record(event),
      onDiscovered: (domain) => {
        void provisioning.failInterrupted(domain);
        snapshots.recover(domain);
        migration.recover(domain);
        diskMove.recover(domain);
        backups.recover(domain);
        void hardware.recover(domain);
      },
    });
    const abilities = {
      inventory,
      // Power does not depend on the storage pool.
      power: new LibvirtPower({ connection, finder, stops, lock: local }),
      provisioning,
      hardware,
      diskMove,
      hostResources: new LibvirtHostResources(hostDevices),
      get migration() {
        return otherHosts().length > 0 ? migration : NO_OTHER_HOST;
      },
      snapshots,
      cloning: new LibvirtCloning({
        ...changes,
        holds,
        progress,
        remover,
        bases,
        writeSeed: (seed, into) => writeSeedIso(seed, into, run),
        findDiscWriter: writer,
      }),
      images: importedImages,
      diskBuilds: new UnavailableAbility('The disks of VMs on libvirt are built on the machine of the service.'),
      containers: new UnavailableAbility('Containers need Kubernetes: libvirt runs virtual machines only.'),
      consoles: new LibvirtConsoles(connection, finder),
      events: new LibvirtEvents(finder, journal),
      metrics: new LibvirtMetrics(connection, finder, clock),
      guestInfo: new LibvirtGuestInspection(connection, finder),
      guestControl: new LibvirtGuestControl(connection, finder, clock),
      diskExport: new LibvirtExport({ ...streams, connection, finder }),
      backups,
      diskSource: new LibvirtDiskSource({
        ...{ connection, finder, clock, pool, images },
        createTemporaryFolder: () => progress.createTemporaryFolder(),
        readUsage: () => DiskUsage.read(connection, finder),
        profiles: new OsinfoDatabase(),
      }),
      liveDisks: new LibvirtLiveDisks({
        ...{ connection, finder, clock, pool, images, editor, lock, backups },
        createTemporaryFolder: () => progress.createTemporaryFolder(),
      }),
      diskIngest: new LibvirtDiskIngest({
        ...{ connection, finder, clock, log, pool, editor, remover, lock, network, run },
        createTemporaryFolder: () => progress.createTemporaryFolder(),
        describeHost: () => describeHost(connection, network, accelerator),
        profiles: new OsinfoDatabase(),
        findDiscWriter: writer,
        diskIo: () => diskIo.probe(),
        writeSeed: (seed, into) => writeSeedIso(seed, into, run),
      }),
      cluster: new LibvirtCluster(connection, pool),
      diagnostics: new LibvirtDiagnostics({
        connection,
        pool,
        network,
        finder,
        accelerator,
        findDiscWriter: writer,
        isRemote: isRemote(uri),
        migrationTransport: options.migrationTransport,
      }),
    };
    return new LibvirtBackend(context, abilities, migrationHost, async () => {
      downloads.partials.interrupt();
      stops.close();
      await seeds.close();
      await migration.close();
      await diskMove.close();
      await snapshots.close();
      await backups.close();
      await inventory.close();
      await progress.cancelAll();
      await importedImages.close();
      await connection.close();
    });
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

const NO_OTHER_HOST = new UnavailableAbility(
  'Live migration needs a second libvirt context: each one is a single machine.',
);

/** The storage pool for volumes that this service creates. */
export const POOL_NAME = 'headgate';

export type { Accelerator };
