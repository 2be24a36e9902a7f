import type { BackupOperations } from './backup-operations.js';
import type { BlockOperations } from './block-operations.js';
import type { DomainOperations } from './domain-operations.js';
import type { EventListener, EventSubscription } from './domain-events.js';
import type { GuestOperations } from './guest-operations.js';
import type { HostOperations } from './host-operations.js';
import type { JobOperations } from './job-operations.js';
import type { MigrationOperations } from './migration-operations.js';
import type { NetworkOperations } from './network-operations.js';
import type { SavedMemoryOperations } from './saved-memory-operations.js';
import type { StorageOperations } from './storage-operations.js';

/**
 * The operations of one libvirt that the adapter needs. Opening it does no I/O: each operation connects if necessary,
 * and throws a DomainError with BACKEND_UNREACHABLE or BACKEND_FORBIDDEN if that fails.
 */
export abstract class LibvirtConnection {
  /** https://libvirt.org/uri.html */
  abstract readonly uri: string;
  abstract readonly host: HostOperations;
  abstract readonly domains: DomainOperations;
  abstract readonly guests: GuestOperations;
  abstract readonly blocks: BlockOperations;
  abstract readonly jobs: JobOperations;
  abstract readonly migrations: MigrationOperations;
  abstract readonly savedMemory: SavedMemoryOperations;
  abstract readonly backups: BackupOperations;
  abstract readonly networks: NetworkOperations;
  abstract readonly storage: StorageOperations;

  /**
   * Subscribes to the events of all domains.
   * @throws DomainError when libvirt can't be reached
   */
  abstract watch(listener: EventListener): Promise<EventSubscription>;

  /** How the operations reach libvirt, as in "over its RPC protocol". */
  abstract describeTransport(): string;

  abstract close(): Promise<void>;
}
