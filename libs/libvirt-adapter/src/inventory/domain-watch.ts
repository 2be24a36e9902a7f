import {
  DomainError,
  messageOf,
  type Clock,
  type InventoryListener,
  type InventoryWatch,
  type Log,
} from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { DomainReader } from '../domains/domain-reader.js';
import type { StopRequests } from '../power/stop-requests.js';
import type { Virsh } from '../virsh/virsh.js';
import { mayChangeInventory } from './event-stream.js';
import { EventStream } from './event-stream.js';
import { GuestAddresses } from './guest-addresses.js';
import { LiveDomains } from './live-domains.js';

export interface DomainWatchDeps {
  readonly context: string;
  readonly virsh: Virsh;
  readonly finder: DomainFinder;
  readonly reader: DomainReader;
  readonly stops: StopRequests;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the inventory is watched for the first time. */
  readonly onFirstWatch?: () => void;
  /** Called with each domain when a connection is established. */
  readonly onDiscovered: (domain: DomainDescription) => void;
  /** Returns 0 to 1; spreads the reconnections of many clients. */
  readonly random?: () => number;
}

const MIN_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 2000;
/**
 * `virsh event` does not report when it has subscribed. Changes between the first list and that moment are found by
 * reading all domains again at these times after the connection.
 */
const RECONCILE_DELAYS_MS = [1000, 10_000];

/** Keeps one connection to libvirt and reconnects whenever it breaks. */
export class DomainWatch implements InventoryWatch {
  private isStopped = false;
  private isLost = false;
  private failures = 0;
  private live?: LiveDomains;
  private events?: EventStream;
  private readonly timers = new Set<() => void>();
  private readonly addresses: GuestAddresses;
  private readonly unsubscribeStops: () => void;

  constructor(
    private readonly deps: DomainWatchDeps,
    private readonly listener: InventoryListener,
  ) {
    const refresh = (uuid: string): void => this.live?.refresh(uuid);
    this.addresses = new GuestAddresses(deps.virsh, deps.clock, refresh);
    this.unsubscribeStops = deps.stops.onChange(refresh);
    void this.connect();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.unsubscribeStops();
    this.addresses.stop();
    await this.disconnect();
  }

  private async connect(): Promise<void> {
    const { virsh, finder, reader, stops, onDiscovered } = this.deps;
    // Errors of a connection that has been replaced are ignored.
    const onFailure = (error: unknown): void => {
      if (this.events === events) this.connectionFailed(error);
    };
    let live: LiveDomains | undefined;
    const queued: Parameters<LiveDomains['handle']>[0][] = [];
    const events: EventStream = new EventStream(virsh, {
      event: (event) => {
        if (!mayChangeInventory(event)) return;
        if (live) live.handle(event);
        else queued.push(event);
      },
      ended: onFailure,
    });
    this.events = events;
    try {
      const host = (await virsh.run(['hostname'])).trim();
      if (this.events !== events) return;
      live = new LiveDomains(
        {
          finder,
          reader,
          stops,
          onDiscovered,
          addresses: this.addresses,
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
    if (this.events === events) this.connected(live);
  }

  private connected(live: LiveDomains): void {
    if (this.isLost) this.deps.log.info({}, 'libvirt is reachable again');
    this.isLost = false;
    this.failures = 0;
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
    const { events } = this;
    this.events = undefined;
    await events?.stop();
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
