import { UnavailableAbility, type Abilities, type AbilityName } from '@headgate/domain-contracts';
import { openBackupSource } from './backup-source/open-backup-source.js';
import { openBackups } from './backups/open-backups.js';
import { openCloning } from './cloning/open-cloning.js';
import { openCluster } from './cluster/open-cluster.js';
import { openConsoles } from './consoles/open-consoles.js';
import { openDiagnostics } from './diagnostics/open-diagnostics.js';
import { openDiskMove } from './disk-move/open-disk-move.js';
import { openDiskRestore } from './disk-restore/open-disk-restore.js';
import type { LibvirtEngine } from './engine/libvirt-engine.js';
import { EventHistory } from './events/event-history.js';
import { openEvents } from './events/open-events.js';
import { openExport } from './export/open-export.js';
import { openGuestControl, openGuestInspection } from './guests/open-guests.js';
import { openGuestPorts } from './guest-ports/open-guest-ports.js';
import { openHardware } from './hardware/open-hardware.js';
import { openHostResources } from './host-resources/open-host-resources.js';
import { openInstantRestore } from './instant-restore/open-instant-restore.js';
import { openImages } from './images/open-images.js';
import { openDiskFiles } from './files/open-disk-files.js';
import type { LibvirtInventory } from './inventory/libvirt-inventory.js';
import { openInventory } from './inventory/open-inventory.js';
import { openMetrics } from './metrics/open-metrics.js';
import type { MigrationHost } from './migration/migration-host.js';
import { openMigration } from './migration/open-migration.js';
import { openDiskIngest, openDiskSource, openLiveDisks } from './moves/open-moves.js';
import { openPower } from './power/open-power.js';
import { openBootProof } from './proof/open-boot-proof.js';
import { openProvisioning } from './provisioning/open-provisioning.js';
import { SeedRemoval } from './seeds/seed-removal.js';
import { openSnapshots } from './snapshots/open-snapshots.js';

interface AbilityParts {
  /** This context as one end of a migration. */
  readonly self: MigrationHost;
  readonly otherHosts: () => readonly MigrationHost[];
  /** Builds the local image and returns its path; absent where there is none. */
  readonly tinyGuest?: () => Promise<string>;
  /** The folder of the guest that reads files; absent where there is none. */
  readonly readerGuest?: string;
}

interface OpenedAbilities {
  readonly abilities: { readonly [K in AbilityName]: Abilities[K] | UnavailableAbility };
  /** Ends all work, and closes the engine. */
  readonly close: () => Promise<void>;
}

/** Opens each ability, and connects those that need each other. */
export function openAbilities(
  engine: LibvirtEngine,
  { self, otherHosts, tinyGuest, readerGuest }: AbilityParts,
): OpenedAbilities {
  const { clock, stops, progress, downloads, bases, connection } = engine;
  const images = openImages(engine);
  const provisioning = openProvisioning(engine, { imported: images, tinyGuest });
  const snapshots = openSnapshots(engine);
  const diskMove = openDiskMove(engine);
  const backups = openBackups(engine);
  const backupSource = openBackupSource(engine, backups);
  const bootProof = openBootProof(engine);
  const diskIngest = openDiskIngest(engine);
  const instantRestore = openInstantRestore(engine, diskIngest);
  const diskFiles = openDiskFiles(engine, readerGuest);
  const hardware = openHardware(engine, (domain) => inventory.reread(domain));
  const migration = openMigration(engine, self, otherHosts);
  const canMigrate = (): boolean => otherHosts().length > 0;
  const seeds = new SeedRemoval(engine);
  const journal = new EventHistory(() => clock.iso());
  const inventory: LibvirtInventory = openInventory(engine, {
    observer: seeds,
    canMigrate,
    onFirstWatch: () => {
      void progress.sweep();
      void downloads.partials.sweep();
      void bases.sweep();
      void images.sweep();
      void bootProof.sweep();
      void diskFiles.sweep();
    },
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
    provisioning,
    hardware,
    diskMove,
    snapshots,
    images,
    backups,
    backupSource,
    bootProof,
    diskFiles,
    get migration() {
      return canMigrate() ? migration : NO_OTHER_HOST;
    },
    power: openPower(engine),
    hostResources: openHostResources(engine),
    cloning: openCloning(engine),
    diskBuilds: new UnavailableAbility('The disks of VMs on libvirt are built on the machine of the service.'),
    containers: NO_CONTAINERS,
    containerLogs: NO_CONTAINERS,
    containerFiles: NO_CONTAINERS,
    containerTransfer: NO_CONTAINERS,
    consoles: openConsoles(engine),
    events: openEvents(engine, journal),
    metrics: openMetrics(engine),
    guestInfo: openGuestInspection(engine),
    guestControl: openGuestControl(engine),
    guestPorts: openGuestPorts(engine),
    diskExport: openExport(engine),
    diskSource: openDiskSource(engine),
    liveDisks: openLiveDisks(engine, backups),
    diskIngest,
    instantRestore,
    diskRestore: openDiskRestore(engine),
    cluster: openCluster(engine),
    nodeScheduling: new UnavailableAbility(
      'A libvirt context is a single host: migrate its VMs to another context, or shut them down.',
    ),
    diagnostics: openDiagnostics(engine, self),
    twin: new UnavailableAbility('This service has no simulation of libvirt, so a host has no twin.'),
  };
  const close = async (): Promise<void> => {
    downloads.partials.interrupt();
    stops.close();
    for (const part of [
      seeds,
      migration,
      diskMove,
      snapshots,
      diskFiles,
      bootProof,
      instantRestore,
      backupSource,
      backups,
      inventory,
    ])
      await part.close();
    await progress.cancelAll();
    await images.close();
    await connection.close();
  };
  return { abilities, close };
}

const NO_CONTAINERS = new UnavailableAbility(
  'A libvirt context runs virtual machines only. Containers run in clusters and on Incus and LXD.',
);
const NO_OTHER_HOST = new UnavailableAbility(
  'Live migration needs a second libvirt context: each one is a single machine.',
);
