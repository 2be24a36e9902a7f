import {
  DomainError,
  messageOf,
  type Clock,
  type InventoryListener,
  type InventoryWatch,
  type Log,
} from '@headgate/domain-contracts';
import type { DomainEvent, EventSubscription } from '../connection/domain-events.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { DomainReader } from '../domains/domain-reader.js';
import type { StopRequests } from '../domains/stop-requests.js';
import { GuestAddresses } from './guest-addresses.js';
import { LiveDomains, type DomainObserver } from './live-domains.js';

export interface DomainWatchDeps {
  readonly context: string;
  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
  readonly reader: DomainReader;
  readonly stops: StopRequests;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the inventory is watched for the first time. */
  readonly onFirstWatch?: () => void;
  /** Called with each event of a domain. */
  readonly onEvent?: (event: DomainEvent) => void;
  /** Called with each domain when a connection is established. */
  readonly onDiscovered: (domain: DomainDescription) => void;
  readonly observer: DomainObserver;
  /** Whether there is another host to which a running guest can be migrated. Default: there is none. */
  readonly canMigrate?: () => boolean;
  /** Returns 0 to 1; spreads the reconnections of many clients. */
  readonly random?: () => number;
}

const MIN_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 2000;
/**
 * An unconfirmed subscription may miss changes after the first list. They are found by reading all domains again at
 * these times after the connection.
 */
const RECONCILE_DELAYS_MS = [1000, 10_000];

/** A connection, or the attempt to establish one. */
interface Attempt {
  events?: EventSubscription;
}

/** Keeps one connection to libvirt and reconnects whenever it breaks. */
export class DomainWatch implements InventoryWatch {
  private isStopped = false;
  private isLost = false;
  private failures = 0;
  private live?: LiveDomains;
  private attempt?: Attempt;
  private readonly timers = new Set<() => void>();
  private readonly addresses: GuestAddresses;
  private readonly unsubscribeStops: () => void;

  constructor(
    private readonly deps: DomainWatchDeps,
    private readonly listener: InventoryListener,
  ) {
    const refresh = (uuid: string): void => this.live?.refresh(uuid);
    this.addresses = new GuestAddresses(deps.connection, deps.clock, refresh);
    this.unsubscribeStops = deps.stops.onChange(refresh);
    void this.connect();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.unsubscribeStops();
    this.addresses.stop();
    await this.disconnect();
  }

  /** Reads a domain again, as after an event. */
  reread(domain: string): void {
    this.live?.reread(domain);
  }

  private async connect(): Promise<void> {
    const { connection, finder, reader, stops, onDiscovered, observer } = this.deps;
    const attempt: Attempt = {};
    this.attempt = attempt;
    // Errors of a connection that has been replaced are ignored.
    const onFailure = (error: unknown): void => {
      if (this.attempt === attempt) this.connectionFailed(error);
    };
    let live: LiveDomains | undefined;
    const queued: DomainEvent[] = [];
    try {
      attempt.events = await connection.watch({
        event: (event) => {
          this.deps.onEvent?.(event);
          if (live) live.handle(event);
          else queued.push(event);
        },
        ended: onFailure,
      });
      if (this.attempt !== attempt) return void (await attempt.events.stop());
      const host = await connection.host.hostname();
      if (this.attempt !== attempt) return;
      live = new LiveDomains(
        {
          finder,
          reader,
          stops,
          onDiscovered,
          observer,
          addresses: this.addresses,
          clock: this.deps.clock,
          canMigrate: this.deps.canMigrate ?? (() => false),
          listener: this.listenerUntilStopped(),
          onFailure,
        },
        host,
      );
      this.live = live;
      await live.load();
      for (const event of queued) live.handle(event);
    } catch (error) {
      return onFailure(error);
    }
    if (this.attempt === attempt) this.connected(live, attempt.events);
  }

  private connected(live: LiveDomains, { isConfirmed }: EventSubscription): void {
    if (this.isLost) this.deps.log.info({}, 'libvirt is reachable again');
    this.isLost = false;
    this.failures = 0;
    if (isConfirmed) return;
    for (const ms of RECONCILE_DELAYS_MS) this.later(ms, () => live.reconcile());
  }

  private connectionFailed(error: unknown): void {
    void this.disconnect();
    if (this.isStopped) return;
    const { log, random = Math.random } = this.deps;
    if (!this.isLost) {
      log.warn({ reason: messageOf(error) }, 'libvirt is unreachable');
      this.isLost = true;
      this.listener.lost(
        error instanceof DomainError ? error : new DomainError('BACKEND_FAILED', messageOf(error), { cause: error }),
      );
    }
    const pause = Math.min(MIN_BACKOFF_MS * 2 ** this.failures++, MAX_BACKOFF_MS);
    this.later(pause * (0.75 + random() / 2), () => void this.connect());
  }

  private async disconnect(): Promise<void> {
    for (const cancel of this.timers) cancel();
    this.timers.clear();
    this.live?.close();
    this.live = undefined;
    const { attempt } = this;
    this.attempt = undefined;
    await attempt?.events?.stop();
  }

  private later(ms: number, callback: () => void): void {
    const cancel = this.deps.clock.after(ms, () => {
      this.timers.delete(cancel);
      callback();
    });
    this.timers.add(cancel);
  }

  private listenerUntilStopped(): InventoryListener {
    return {
      listed: (instances) => this.isStopped || this.listener.listed(instances),
      changed: (instance) => this.isStopped || this.listener.changed(instance),
      removed: (ref) => this.isStopped || this.listener.removed(ref),
      lost: (error) => this.isStopped || this.listener.lost(error),
    };
  }
}
