import type { EventListener, EventSubscription } from '../connection/domain-events.js';
import { LibvirtConnection } from '../connection/libvirt-connection.js';
import { VirshBackups } from './virsh-backups.js';
import { VirshBlocks } from './virsh-blocks.js';
import { VirshDomains } from './virsh-domains.js';
import { VirshEvents } from './virsh-events.js';
import { VirshGuests } from './virsh-guests.js';
import { VirshHost } from './virsh-host.js';
import { VirshJobs } from './virsh-jobs.js';
import { VirshMigrations } from './virsh-migrations.js';
import { VirshNetworks } from './virsh-networks.js';
import { VirshSavedMemory } from './virsh-saved-memory.js';
import { VirshStorage } from './virsh-storage.js';
import { Virsh, type VirshOptions } from './virsh.js';

/** A process of virsh for each operation. It speaks every transport, and starts the daemon of a session. */
export class VirshConnection extends LibvirtConnection {
  override readonly uri: string;
  override readonly host: VirshHost;
  override readonly domains: VirshDomains;
  override readonly guests: VirshGuests;
  override readonly blocks: VirshBlocks;
  override readonly jobs: VirshJobs;
  override readonly migrations: VirshMigrations;
  override readonly savedMemory: VirshSavedMemory;
  override readonly backups: VirshBackups;
  override readonly networks: VirshNetworks;
  override readonly storage: VirshStorage;
  private readonly virsh: Virsh;

  constructor(options: VirshOptions) {
    super();
    this.uri = options.uri;
    this.virsh = new Virsh(options);
    this.host = new VirshHost(this.virsh);
    this.domains = new VirshDomains(this.virsh);
    this.guests = new VirshGuests(this.virsh);
    this.blocks = new VirshBlocks(this.virsh);
    this.jobs = new VirshJobs(this.virsh);
    this.migrations = new VirshMigrations(this.virsh);
    this.savedMemory = new VirshSavedMemory(this.virsh);
    this.backups = new VirshBackups(this.virsh);
    this.networks = new VirshNetworks(this.virsh);
    this.storage = new VirshStorage(this.virsh);
  }

  override watch(listener: EventListener): Promise<EventSubscription> {
    return Promise.resolve(new VirshEvents(this.virsh, listener));
  }

  override describeTransport(): string {
    return 'through virsh';
  }

  override close(): Promise<void> {
    this.virsh.close();
    return Promise.resolve();
  }
}
