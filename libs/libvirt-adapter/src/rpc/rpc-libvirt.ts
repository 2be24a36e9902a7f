import type { EventListener, EventSubscription } from '../connection/domain-events.js';
import { LibvirtConnection } from '../connection/libvirt-connection.js';
import { RpcBackups } from './rpc-backups.js';
import { RpcBlocks } from './rpc-blocks.js';
import { RpcDomains } from './rpc-domains.js';
import { RpcEvents } from './rpc-events.js';
import { RpcGuests } from './rpc-guests.js';
import { RpcHost } from './rpc-host.js';
import { RpcJobs } from './rpc-jobs.js';
import { RpcLink, type RpcLinkOptions } from './rpc-link.js';
import { RpcMigrations } from './rpc-migrations.js';
import { RpcNetworks } from './rpc-networks.js';
import { RpcSavedMemory } from './rpc-saved-memory.js';
import { RpcStorage } from './rpc-storage.js';

/** As virsh: a machine that is busy starting guests may not answer for seconds. */
const PATIENT_KEEPALIVE = { intervalMs: 5000, count: 5 };

/**
 * libvirt's RPC protocol over held connections: one for questions and short operations, one for calls that take long,
 * one for events, and one for each transfer.
 */
export class RpcLibvirt extends LibvirtConnection {
  override readonly uri: string;
  override readonly host: RpcHost;
  override readonly domains: RpcDomains;
  override readonly guests: RpcGuests;
  override readonly blocks: RpcBlocks;
  override readonly jobs: RpcJobs;
  override readonly migrations: RpcMigrations;
  override readonly savedMemory: RpcSavedMemory;
  override readonly backups: RpcBackups;
  override readonly networks: RpcNetworks;
  override readonly storage: RpcStorage;
  private readonly link: RpcLink;
  private readonly slowLink: RpcLink;

  constructor(options: RpcLinkOptions) {
    super();
    this.uri = options.uri;
    this.link = new RpcLink(options);
    this.slowLink = new RpcLink({ ...options, keepalive: PATIENT_KEEPALIVE });
    this.host = new RpcHost(this.link);
    this.domains = new RpcDomains({ link: this.link, slowLink: this.slowLink });
    this.guests = new RpcGuests(this.slowLink);
    this.blocks = new RpcBlocks(this.slowLink);
    this.jobs = new RpcJobs(this.link);
    this.migrations = new RpcMigrations(this.link);
    this.savedMemory = new RpcSavedMemory(this.slowLink);
    this.backups = new RpcBackups(this.slowLink);
    this.networks = new RpcNetworks(this.link);
    this.storage = new RpcStorage(this.link);
  }

  override watch(listener: EventListener): Promise<EventSubscription> {
    return RpcEvents.open(this.link, listener);
  }

  override describeTransport(): string {
    return 'over its RPC protocol';
  }

  override async close(): Promise<void> {
    await Promise.all([this.link.close(), this.slowLink.close()]);
  }
}
