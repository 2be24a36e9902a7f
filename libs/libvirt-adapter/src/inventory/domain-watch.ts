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
import { mayChangeInventory } from './event-line.js';
import { EventStream } from './event-stream.js';
import { GuestAddresses } from './guest-addresses.js';
import { LiveDomains } from './live-domains.js';

export interface DomainWatchParts {
  readonly context: string;
  readonly virsh: Virsh;
  readonly finder: DomainFinder;
  readonly reader: DomainReader;
  readonly stops: StopRequests;
  readonly clock: Clock;
  readonly log: Log;
  /** Hears of each domain when a connection begins. */
  readonly met: (domain: DomainDescription) => void;
  /** 0 to 1; spreads the reconnections of many. */
  readonly random?: () => number;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2000;
/**
 * `virsh event` does not say when it has begun to listen. What happened between the first list and that moment is found by
 * reading everything again, twice, this many milliseconds after the connection.
 */
const READ_AGAIN_AFTER_MS = [1000, 10_000];

/** Keeps one connection to libvirt and takes it up again whenever it breaks. */
export class DomainWatch implements InventoryWatch {
  private isStopped = false;
  private isLost = false;
  private failures = 0;
  private live?: LiveDomains;
  private events?: EventStream;
  private readonly timers = new Set<() => void>();
  private readonly addresses: GuestAddresses;
  private readonly forgetStops: () => void;

  constructor(
    private readonly parts: DomainWatchParts,
    private readonly listener: InventoryListener,
  ) {
    const refresh = (uuid: string): void => this.live?.refresh(uuid);
    this.addresses = new GuestAddresses(parts.virsh, parts.clock, refresh);
    this.forgetStops = parts.stops.onChange(refresh);
    void this.connect();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.forgetStops();
    this.addresses.stop();
    await this.disconnect();
  }

  private async connect(): Promise<void> {
    const { virsh, finder, reader, stops, met } = this.parts;
    // A connection that has been replaced has nothing to say any more.
    const failed = (error: unknown): void => {
      if (this.events === events) this.connectionFailed(error);
    };
    let live: LiveDomains | undefined;
    const early: Parameters<LiveDomains['handle']>[0][] = [];
    const events: EventStream = new EventStream(virsh, {
      event: (event) => {
        if (!mayChangeInventory(event)) return;
        if (live) live.handle(event);
        else early.push(event);
      },
      ended: failed,
    });
    this.events = events;
    try {
      const host = (await virsh.run(['hostname'])).trim();
      if (this.events !== events) return;
      live = new LiveDomains(
        { finder, reader, stops, met, addresses: this.addresses, listener: this.tellUnlessStopped(), failed },
        host,
      );
      this.live = live;
      await live.load();
      for (const event of early) live.handle(event);
    } catch (error) {
      return failed(error);
    }
    if (this.events === events) this.connected(live);
  }

  private connected(live: LiveDomains): void {
    if (this.isLost) this.parts.log.info({}, 'libvirt is back');
    this.isLost = false;
    this.failures = 0;
    for (const ms of READ_AGAIN_AFTER_MS) this.later(ms, () => live.reconcile());
  }

  private connectionFailed(error: unknown): void {
    void this.disconnect();
    if (this.isStopped) return;
    const { log, random = Math.random } = this.parts;
    if (!this.isLost) {
      log.warn({ reason: messageOf(error) }, 'libvirt is lost');
      this.isLost = true;
      this.listener.lost(
        error instanceof DomainError ? error : new DomainError('BACKEND_FAILED', messageOf(error), { cause: error }),
      );
    }
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.failures++, LONGEST_PAUSE_MS);
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
    const cancel = this.parts.clock.after(ms, () => {
      this.timers.delete(cancel);
      callback();
    });
    this.timers.add(cancel);
  }

  private tellUnlessStopped(): InventoryListener {
    return {
      listed: (instances) => this.isStopped || this.listener.listed(instances),
      changed: (instance) => this.isStopped || this.listener.changed(instance),
      removed: (ref) => this.isStopped || this.listener.removed(ref),
      lost: (error) => this.isStopped || this.listener.lost(error),
    };
  }
}
