import type { Duplex } from 'node:stream';
import {
  Backend,
  UnavailableAbility,
  type Abilities,
  type AbilityName,
  type BackendTraits,
  type InstanceRef,
} from '@headgate/domain-contracts';
import { MemoryBackupSource } from './memory-backup-source.js';
import { MemoryBootProof } from './memory-boot-proof.js';
import { MemoryDiskRestore } from './memory-disk-restore.js';
import { MemoryBackups } from './memory-backups.js';
import { MemoryCluster, MemoryDiagnostics } from './memory-cluster.js';
import { MemoryContainerFiles } from './memory-container-files.js';
import { MemoryContainerLogs } from './memory-container-logs.js';
import { MemoryContainerTransfer } from './memory-container-transfer.js';
import { MemoryConsoles } from './memory-consoles.js';
import { MemoryDiskFiles } from './memory-disk-files.js';
import { MemoryDiskMove } from './memory-disk-move.js';
import { MemoryEngine } from './memory-engine.js';
import { MemoryEvents } from './memory-events.js';
import { MemoryExport } from './memory-export.js';
import { MemoryInstantRestore } from './memory-instant-restore.js';
import { MemoryLiveDisks } from './memory-live-disks.js';
import { MemoryDiskIngest, MemoryDiskSource } from './memory-moves.js';
import { MemoryGuestControl, MemoryGuestInspection } from './memory-guests.js';
import { MemoryGuestPorts, type OpenPort } from './memory-guest-ports.js';
import { MemoryHardware } from './memory-hardware.js';
import {
  MemoryContainers,
  MemoryInventory,
  MemoryMigration,
  MemoryPower,
  MemoryProvisioning,
  type MemoryPeer,
} from './memory-instances.js';
import { MemoryHostResources } from './memory-placements.js';
import { MemoryImages } from './memory-images.js';
import { MemoryNodeScheduling } from './memory-nodes.js';
import { MemoryMetrics } from './memory-metrics.js';
import { MemoryCloning, MemorySnapshots } from './memory-snapshots.js';
import { MEMORY_TRAITS } from './memory-traits.js';

export interface MemoryBackendOptions {
  readonly traits?: BackendTraits;
  /** Default: 2. */
  readonly nodeCount?: number;
  /** The other machines, for a backend that is a single one. */
  readonly peers?: () => readonly MemoryPeer[];
  /** Abilities that this backend does not have, with the reason. */
  readonly unavailable?: Readonly<Partial<Record<AbilityName, string>>>;
  /** The abilities for containers. Default: all that this backend has for them. */
  readonly containerAbilities?: readonly AbilityName[];
  /** The graphical console of a running VM. */
  readonly openScreen?: (ref: InstanceRef) => Duplex;
  /** What accepts connections at a port of a running VM. Default: an echo at port 7. */
  readonly openPort?: OpenPort;
}

const CONTAINER_ABILITIES: readonly AbilityName[] = [
  'inventory',
  'hardware',
  'snapshots',
  'cloning',
  'containers',
  'containerLogs',
  'containerFiles',
  'containerTransfer',
  'consoles',
  'events',
  'metrics',
];

/** A backend in memory. It passes the contract suites of all ports, like any other backend. */
export class MemoryBackend extends Backend {
  readonly engine: MemoryEngine;
  override readonly traits: BackendTraits;
  override readonly containerAbilities: readonly AbilityName[];
  readonly logs: MemoryContainerLogs;
  readonly files: MemoryContainerFiles;
  closed = false;
  private readonly abilities: { readonly [K in AbilityName]: Abilities[K] | UnavailableAbility };
  private readonly unavailable: Readonly<Partial<Record<AbilityName, string>>>;

  constructor(
    override readonly context = 'lab',
    options: MemoryBackendOptions = {},
  ) {
    super();
    const { traits = MEMORY_TRAITS, nodeCount, peers, unavailable = {}, openScreen } = options;
    this.traits = traits;
    this.unavailable = unavailable;
    this.containerAbilities = options.containerAbilities ?? CONTAINER_ABILITIES;
    const engine = (this.engine = new MemoryEngine(traits.kind, nodeCount));
    this.logs = new MemoryContainerLogs(engine);
    this.files = new MemoryContainerFiles(engine);
    const hardware = new MemoryHardware(engine);
    const diskIngest = new MemoryDiskIngest(engine);
    const migration = new MemoryMigration(engine, peers);
    this.abilities = {
      inventory: new MemoryInventory(engine),
      power: new MemoryPower(engine),
      provisioning: new MemoryProvisioning(engine),
      diskBuilds: new UnavailableAbility('Disks are built on the machine of the service.'),
      hardware,
      diskMove: new MemoryDiskMove(engine, hardware),
      hostResources: new MemoryHostResources(engine, hardware.placements),
      migration,
      snapshots: new MemorySnapshots(engine),
      cloning: new MemoryCloning(engine),
      images: new MemoryImages(engine),
      containers: new MemoryContainers(engine),
      containerLogs: this.logs,
      containerFiles: this.files,
      containerTransfer: new MemoryContainerTransfer(engine),
      consoles: new MemoryConsoles(engine, openScreen),
      events: new MemoryEvents(engine),
      metrics: new MemoryMetrics(engine),
      guestInfo: new MemoryGuestInspection(engine),
      guestControl: new MemoryGuestControl(engine),
      guestPorts: new MemoryGuestPorts(engine, options.openPort),
      diskExport: new MemoryExport(engine),
      diskSource: new MemoryDiskSource(engine),
      diskIngest,
      instantRestore: new MemoryInstantRestore(engine, diskIngest),
      liveDisks: new MemoryLiveDisks(engine),
      backups: new MemoryBackups(engine),
      backupSource: new MemoryBackupSource(engine),
      bootProof: new MemoryBootProof(engine),
      diskFiles: new MemoryDiskFiles(engine),
      diskRestore: new MemoryDiskRestore(engine),
      cluster: new MemoryCluster(engine),
      nodeScheduling: new MemoryNodeScheduling(engine, migration),
      diagnostics: new MemoryDiagnostics(engine),
      twin: new UnavailableAbility('Nothing simulates a backend in memory, so it has no twin.'),
    };
  }

  override ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility {
    const reason = this.unavailable[name];
    return reason === undefined ? this.abilities[name] : new UnavailableAbility(reason);
  }

  override async close(): Promise<void> {
    this.closed = true;
  }
}
