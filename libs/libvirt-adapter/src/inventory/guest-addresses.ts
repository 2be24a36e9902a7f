import type { Clock } from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { Virsh } from '../virsh/virsh.js';
import { pickAddress } from './guest-address.js';

/** Milliseconds between the questions about one guest; a guest that has no address after the last one is not asked again until an event tells of it. */
const PAUSES = [0, 500, 1000, 2000, 4000, 8000, 15_000, 30_000, 60_000];

interface Search {
  /** Where it asks. */
  readonly source: 'agent' | 'lease';
  cancel: () => void;
}

/** Finds out the addresses of running guests: asked after events, a bounded number of times. */
export class GuestAddresses {
  private readonly addresses = new Map<string, string>();
  private readonly searches = new Map<string, Search>();

  constructor(
    private readonly virsh: Virsh,
    private readonly clock: Clock,
    /** The address of a domain was found. */
    private readonly found: (uuid: string) => void,
  ) {}

  of(uuid: string): string | undefined {
    return this.addresses.get(uuid);
  }

  /** Looks at a domain that was just read, and asks for its address when there is somebody to ask. */
  observe({ uuid, agent, nics }: DomainDescription, isActive: boolean): void {
    if (!isActive) return this.forget(uuid);
    const source = agent === 'connected' ? 'agent' : nics.some(({ type }) => type === 'network') ? 'lease' : undefined;
    const current = this.searches.get(uuid);
    // The agent knows best: a search among the leases ends when it comes.
    if (source === undefined || current?.source === source) return;
    current?.cancel();
    const search: Search = { source, cancel: () => undefined };
    this.searches.set(uuid, search);
    this.ask(uuid, search, 0);
  }

  /** Drops what is known: the guest has stopped, or begins anew. */
  forget(uuid: string): void {
    this.searches.get(uuid)?.cancel();
    this.searches.delete(uuid);
    this.addresses.delete(uuid);
  }

  stop(): void {
    for (const uuid of [...this.searches.keys()]) this.forget(uuid);
  }

  private ask(uuid: string, search: Search, attempt: number): void {
    const pause = PAUSES[attempt];
    if (pause === undefined) return;
    search.cancel = this.clock.after(pause, () => {
      void this.lookUp(uuid, search.source).then((address) => {
        if (this.searches.get(uuid) !== search) return;
        if (address === undefined) return this.ask(uuid, search, attempt + 1);
        if (this.addresses.get(uuid) === address) return;
        this.addresses.set(uuid, address);
        this.found(uuid);
      });
    });
  }

  private async lookUp(uuid: string, source: Search['source']): Promise<string | undefined> {
    try {
      return pickAddress(
        await this.virsh.run(['domifaddr', uuid, '--source', source, '--full'], { timeoutMs: 10_000 }),
      );
    } catch {
      // No answer is no address: the agent is starting, or the guest is going down.
      return undefined;
    }
  }
}
