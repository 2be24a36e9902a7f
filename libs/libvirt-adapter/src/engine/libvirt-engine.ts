import type { Clock, Log } from '@headgate/domain-contracts';
import type { Downloads } from '@headgate/downloads';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DiskIo } from '../domain-xml/domain-spec.js';
import type { DomainEditor } from '../domains/domain-editor.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { StopRequests } from '../domains/stop-requests.js';
import type { GuestProfiles } from '../guest-profiles/guest-profile.js';
import type { Accelerator, Host } from '../host/host.js';
import type { KeyedLock } from '../locks/concurrency.js';
import type { DiskHolds } from '../locks/disk-holds.js';
import type { GuestNetwork } from '../network/guest-network.js';
import type { RunProgram } from '../programs/run-program.js';
import type { DomainRemover } from '../removal/domain-remover.js';
import type { writeSeedIso } from '../seeds/seed-iso.js';
import type { BaseImages } from '../storage/base-images.js';
import type { BaseReferences } from '../storage/base-references.js';
import type { DiskUsage } from '../storage/disk-usage.js';
import type { QemuImg } from '../storage/qemu-img.js';
import type { StoragePool } from '../storage/storage-pool.js';
import type { WorkInProgress } from '../work-in-progress/work-in-progress.js';

/**
 * One libvirt, with everything that its abilities share. The fields have the names that the `*Deps` of the abilities
 * use.
 */
export interface LibvirtEngine {
  /** The name that the operator gave it. */
  readonly context: string;
  readonly uri: string;
  /** Whether libvirt runs on another machine. */
  readonly isRemote: boolean;
  /** A private folder of this context. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Replaces programs in tests. */
  readonly run?: RunProgram;

  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
  readonly editor: DomainEditor;
  readonly remover: DomainRemover;

  /** Serializes the operations of this process on a domain. */
  readonly local: KeyedLock;
  /** Serializes the operations of all services on a domain. It needs the storage pool. */
  readonly lock: KeyedLock;
  readonly holds: DiskHolds;
  readonly stops: StopRequests;

  readonly progress: WorkInProgress;
  /** The identity of this service. */
  readonly service: () => string;
  /** Creates a private folder, which the caller removes. */
  readonly createTemporaryFolder: () => Promise<string>;

  readonly pool: StoragePool;
  readonly bases: BaseImages;
  readonly references: BaseReferences;
  readonly readUsage: () => Promise<DiskUsage>;
  readonly images: QemuImg;
  readonly diskIo: () => Promise<DiskIo>;
  readonly downloads: Downloads;

  readonly network: GuestNetwork;
  readonly profiles: GuestProfiles;
  readonly accelerator: () => Promise<Accelerator>;
  readonly describeHost: () => Promise<Host>;

  /** The installed program that writes cloud-init discs; undefined where there is none. */
  readonly findDiscWriter: () => Promise<string | undefined>;
  readonly writeSeed: typeof writeSeedIso;
}
