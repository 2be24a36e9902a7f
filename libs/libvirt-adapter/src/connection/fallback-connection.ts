import { SILENT_LOG, type Log } from '@headgate/domain-contracts';
import type { BackupOperations } from './backup-operations.js';
import type { BlockOperations } from './block-operations.js';
import type { DomainOperations } from './domain-operations.js';
import type { EventListener, EventSubscription } from './domain-events.js';
import type { GuestOperations } from './guest-operations.js';
import type { HostOperations } from './host-operations.js';
import type { JobOperations } from './job-operations.js';
import { LibvirtConnection } from './libvirt-connection.js';
import type { MigrationOperations } from './migration-operations.js';
import type { NetworkOperations } from './network-operations.js';
import type { SavedMemoryOperations } from './saved-memory-operations.js';
import type { StorageOperations } from './storage-operations.js';
import { TransportError } from './transport-error.js';

/** Uses one connection, and another one where the first can't be used. It logs once which one it uses. */
export class FallbackConnection extends LibvirtConnection {
  override readonly uri: string;
  override readonly host: HostOperations;
  override readonly domains: DomainOperations;
  override readonly guests: GuestOperations;
  override readonly blocks: BlockOperations;
  override readonly jobs: JobOperations;
  override readonly migrations: MigrationOperations;
  override readonly savedMemory: SavedMemoryOperations;
  override readonly backups: BackupOperations;
  override readonly networks: NetworkOperations;
  override readonly storage: StorageOperations;
  /** Why the first connection can't be used at all. */
  private refusal?: string;
  private logged?: LibvirtConnection;

  constructor(
    private readonly first: LibvirtConnection,
    private readonly second: LibvirtConnection,
    private readonly log: Log = SILENT_LOG,
  ) {
    super();
    this.uri = first.uri;
    this.host = this.either(first.host, second.host);
    this.domains = this.either(first.domains, second.domains);
    this.guests = this.either(first.guests, second.guests);
    this.blocks = this.either(first.blocks, second.blocks);
    this.jobs = this.either(first.jobs, second.jobs);
    this.migrations = this.either(first.migrations, second.migrations);
    this.savedMemory = this.either(first.savedMemory, second.savedMemory);
    this.backups = this.either(first.backups, second.backups);
    this.networks = this.either(first.networks, second.networks);
    this.storage = this.either(first.storage, second.storage);
  }

  override watch(listener: EventListener): Promise<EventSubscription> {
    return this.attempt(
      () => this.first.watch(listener),
      () => this.second.watch(listener),
    );
  }

  override describeTransport(): string {
    if (this.refusal === undefined) return this.first.describeTransport();
    return `${this.second.describeTransport()}: ${this.refusal}`;
  }

  override async close(): Promise<void> {
    await Promise.all([this.first.close(), this.second.close()]);
  }

  /** The operations of the first connection. Each of them runs on the second one if the first can't be used. */
  private either<T extends object>(first: T, second: T): T {
    return new Proxy(first, {
      get: (_target, name) => {
        const [one, other] = [Reflect.get(first, name) as unknown, Reflect.get(second, name) as unknown];
        if (typeof one !== 'function' || typeof other !== 'function') return one;
        return (...args: unknown[]): Promise<unknown> =>
          this.attempt(
            () => one.apply(first, args) as Promise<unknown>,
            () => other.apply(second, args) as Promise<unknown>,
          );
      },
    });
  }

  private async attempt<T>(onFirst: () => Promise<T>, onSecond: () => Promise<T>): Promise<T> {
    if (this.refusal !== undefined) return onSecond();
    try {
      const result = await onFirst();
      this.logOnce(this.first);
      return result;
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      if (error.isPermanent) this.refusal = error.message;
      this.logOnce(this.second, error.message);
      return onSecond();
    }
  }

  private logOnce(used: LibvirtConnection, reason?: string): void {
    if (this.logged === used) return;
    this.logged = used;
    const fields = { uri: this.uri, transport: used.describeTransport(), ...(reason !== undefined && { reason }) };
    this.log.info(fields, 'connected to libvirt');
  }
}
