import { DomainError } from '../values/domain-error.js';
import type { InstanceKind } from '../values/instance-ref.js';
import type { BackendKindName, BackendTraits } from '../model/backend-traits.js';
import type { BackupSource } from './backup-source.port.js';
import type { BootProof } from './boot-proof.port.js';
import type { ClusterInventory } from './cluster-inventory.port.js';
import type { ConsoleSource } from './console-source.port.js';
import { FOR_CONTAINERS } from './container-abilities.js';
import type { ContainerFiles } from './container-files.port.js';
import type { ContainerLogs } from './container-logs.port.js';
import type { ContainerTransfer } from './container-transfer.port.js';
import type { Containers } from './containers.port.js';
import type { Diagnostics } from './diagnostics.port.js';
import type { DiskBuilds } from './disk-builds.port.js';
import type { DiskExport } from './disk-export.port.js';
import type { DiskFiles } from './disk-files.port.js';
import type { DiskIngest } from './disk-ingest.port.js';
import type { DiskRestore } from './disk-restore.port.js';
import type { DiskSource } from './disk-source.port.js';
import type { DiskMove } from './disk-move.port.js';
import type { GuestControl } from './guest-control.port.js';
import type { GuestInspection } from './guest-inspection.port.js';
import type { GuestPorts } from './guest-ports.port.js';
import type { HostResources } from './host-resources.port.js';
import type { ImportedImages } from './imported-images.port.js';
import type { InstanceBackups } from './instance-backups.port.js';
import type { InstanceCloning } from './instance-cloning.port.js';
import type { InstanceEvents } from './instance-events.port.js';
import type { InstanceHardware } from './instance-hardware.port.js';
import type { InstanceInventory } from './instance-inventory.port.js';
import type { InstanceMigration } from './instance-migration.port.js';
import type { InstancePower } from './instance-power.port.js';
import type { InstanceProvisioning } from './instance-provisioning.port.js';
import type { NodeScheduling } from './node-scheduling.port.js';
import type { ResourceMetrics } from './resource-metrics.port.js';
import type { InstantRestore } from './instant-restore.port.js';
import type { InstanceSnapshots } from './instance-snapshots.port.js';
import type { LiveDisks } from './live-disks.port.js';
import type { TwinSource } from './twin-source.port.js';

/** The abilities of backends by name. Every backend must provide a new one or give a reason why not. */
export interface Abilities {
  readonly inventory: InstanceInventory;
  readonly power: InstancePower;
  readonly provisioning: InstanceProvisioning;
  readonly diskBuilds: DiskBuilds;
  readonly hardware: InstanceHardware;
  readonly diskMove: DiskMove;
  readonly hostResources: HostResources;
  readonly migration: InstanceMigration;
  readonly snapshots: InstanceSnapshots;
  readonly cloning: InstanceCloning;
  readonly images: ImportedImages;
  readonly containers: Containers;
  readonly containerLogs: ContainerLogs;
  readonly containerFiles: ContainerFiles;
  readonly containerTransfer: ContainerTransfer;
  readonly consoles: ConsoleSource;
  readonly events: InstanceEvents;
  readonly metrics: ResourceMetrics;
  readonly guestInfo: GuestInspection;
  readonly guestControl: GuestControl;
  readonly guestPorts: GuestPorts;
  readonly diskExport: DiskExport;
  readonly diskSource: DiskSource;
  readonly diskIngest: DiskIngest;
  readonly diskRestore: DiskRestore;
  readonly instantRestore: InstantRestore;
  readonly liveDisks: LiveDisks;
  readonly backups: InstanceBackups;
  readonly backupSource: BackupSource;
  readonly bootProof: BootProof;
  readonly diskFiles: DiskFiles;
  readonly cluster: ClusterInventory;
  readonly nodeScheduling: NodeScheduling;
  readonly diagnostics: Diagnostics;
  readonly twin: TwinSource;
}

export type AbilityName = keyof Abilities;

/** In the order in which they are listed. A record, so that an ability that is missing here does not compile. */
const LISTED: { readonly [K in AbilityName]: true } = {
  inventory: true,
  power: true,
  provisioning: true,
  diskBuilds: true,
  hardware: true,
  diskMove: true,
  hostResources: true,
  migration: true,
  snapshots: true,
  cloning: true,
  images: true,
  containers: true,
  containerLogs: true,
  containerFiles: true,
  containerTransfer: true,
  consoles: true,
  events: true,
  metrics: true,
  guestInfo: true,
  guestControl: true,
  guestPorts: true,
  diskExport: true,
  diskSource: true,
  diskIngest: true,
  diskRestore: true,
  instantRestore: true,
  liveDisks: true,
  backups: true,
  backupSource: true,
  bootProof: true,
  diskFiles: true,
  cluster: true,
  nodeScheduling: true,
  diagnostics: true,
  twin: true,
};

/** The names, in the order in which they are listed. */
export const ABILITY_NAMES = Object.keys(LISTED) as readonly AbilityName[];

/** How each ability is refused for containers. A record, so that one that is missing in it does not compile. */
const REFUSED: { readonly [K in AbilityName]: string | undefined } = FOR_CONTAINERS;

/** The abilities that are about single instances, in the order in which they are listed. */
export const INSTANCE_ABILITIES = ABILITY_NAMES.filter((name) => REFUSED[name] !== undefined);

/** Takes the place of an ability that a backend does not have. */
export class UnavailableAbility {
  /** @param reason one sentence */
  constructor(readonly reason: string) {}
}

/** One configured engine: a set of abilities under the operator's name for it. */
export abstract class Backend {
  abstract readonly context: string;
  abstract readonly traits: BackendTraits;

  /** The only source of a backend's abilities: the 501, the capabilities and disabled buttons use it. */
  abstract ability<K extends AbilityName>(name: K): Abilities[K] | UnavailableAbility;

  /**
   * The abilities that it has for containers as well as for VMs. Each other one is refused for containers, so that a
   * backend never gets a container where it expects a VM. A wrapper returns those of its backend.
   */
  abstract readonly containerAbilities: readonly AbilityName[];

  get kind(): BackendKindName {
    return this.traits.kind;
  }

  /** Closes connections and watches and ends child processes. Guests keep running. */
  abstract close(): Promise<void>;

  /** @throws DomainError NOT_SUPPORTED with the reason */
  require<K extends AbilityName>(name: K): Abilities[K] {
    const found = this.ability(name);
    if (found instanceof UnavailableAbility) throw new DomainError('NOT_SUPPORTED', found.reason);
    return found;
  }

  /** The ability for the instances of a kind, with the reason if there is none for containers. */
  abilityFor<K extends AbilityName>(kind: InstanceKind, name: K): Abilities[K] | UnavailableAbility {
    const subject = REFUSED[name];
    if (kind === 'vm' || subject === undefined || this.containerAbilities.includes(name)) return this.ability(name);
    const containers = this.ability('containers');
    if (containers instanceof UnavailableAbility) return containers;
    return new UnavailableAbility(`${this.context} does not offer ${subject}.`);
  }

  /** @throws DomainError NOT_SUPPORTED with the reason, also for an ability that is only for VMs */
  requireFor<K extends AbilityName>(kind: InstanceKind, name: K): Abilities[K] {
    const found = this.abilityFor(kind, name);
    if (found instanceof UnavailableAbility) throw new DomainError('NOT_SUPPORTED', found.reason);
    return this.require(name);
  }
}

/** The configured backends. */
export abstract class BackendDirectory {
  abstract all(): readonly Backend[];
  /** @throws DomainError CONTEXT_NOT_FOUND */
  abstract get(context: string): Backend;
}
