import { isIPv4 } from 'node:net';
import type { Clock } from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { InterfaceAddress } from '../connection/domain-operations.js';

/** Delays between lookups for one guest. After the last one, the next event of the guest starts a new search. */
const LOOKUP_DELAYS_MS = [0, 500, 1000, 2000, 4000, 8000, 15_000, 30_000, 60_000];

interface Search {
  /** The source of addresses. */
  readonly source: 'agent' | 'lease';
  cancel: () => void;
}

/** Looks up the addresses of running guests, a limited number of times after each event. */
export class GuestAddresses {
  private readonly addresses = new Map<string, string>();
  private readonly searches = new Map<string, Search>();

  constructor(
    private readonly connection: LibvirtConnection,
    private readonly clock: Clock,
    /** Called when the address of a domain was found or has changed. */
    private readonly onFound: (uuid: string) => void,
  ) {}

  of(uuid: string): string | undefined {
    return this.addresses.get(uuid);
  }

  /** Starts a search for a running domain that has a source of addresses. */
  observe({ uuid, agent, nics }: DomainDescription, isActive: boolean): void {
    if (!isActive) return this.forget(uuid);
    const source = agent === 'connected' ? 'agent' : nics.some(({ type }) => type === 'network') ? 'lease' : undefined;
    const current = this.searches.get(uuid);
    // The agent is the better source, so it replaces a search among the DHCP leases.
    if (source === undefined || current?.source === source) return;
    current?.cancel();
    const search: Search = { source, cancel: () => undefined };
    this.searches.set(uuid, search);
    this.ask(uuid, search, 0);
  }

  /** Discards the address of a guest that stopped or restarted. */
  forget(uuid: string): void {
    this.searches.get(uuid)?.cancel();
    this.searches.delete(uuid);
    this.addresses.delete(uuid);
  }

  stop(): void {
    for (const uuid of [...this.searches.keys()]) this.forget(uuid);
  }

  private ask(uuid: string, search: Search, attempt: number): void {
    const pause = LOOKUP_DELAYS_MS[attempt];
    if (pause === undefined) return;
    search.cancel = this.clock.after(pause, () => {
      void this.lookUp(uuid, search.source).then((address) => {
        if (this.searches.get(uuid) !== search) return;
        if (address === undefined) return this.ask(uuid, search, attempt + 1);
        if (this.addresses.get(uuid) === address) return;
        this.addresses.set(uuid, address);
        this.onFound(uuid);
      });
    });
  }

  private async lookUp(uuid: string, source: Search['source']): Promise<string | undefined> {
    try {
      return pickAddress(await this.connection.domains.interfaceAddresses(uuid, source, { timeoutMs: 10_000 }));
    } catch {
      // The agent may still be starting, or the guest is shutting down.
      return undefined;
    }
  }
}

/** Picks the address to show: IPv4 is preferred; loopback and link-local addresses are skipped. */
export function pickAddress(found: readonly InterfaceAddress[]): string | undefined {
  const addresses = found
    .filter(({ interfaceName }) => interfaceName !== 'lo')
    .map(({ address }) => address)
    .filter((address) => !/^(127\.|169\.254\.|::1$|fe80:)/i.test(address));
  return addresses.find((address) => isIPv4(address)) ?? addresses.find((address) => address.includes(':'));
}
