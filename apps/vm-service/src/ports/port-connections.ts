import { CLOSE_CODES, type PortClient } from '@headgate/consoles';
import { DomainError, type Caller } from '@headgate/domain-contracts';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';

/** A browser behind a forwarded port opens several at once. */
export const MAX_PORTS_PER_CALLER = 32;
export const MAX_PORTS = 256;

/** The open connections to ports of guests, in this replica. */
@Injectable()
export class PortConnections implements BeforeApplicationShutdown {
  private readonly clients = new Set<PortClient>();
  private readonly counts = new Map<string, number>();

  /** @throws DomainError TOO_MANY_STREAMS */
  expectRoom(caller: Caller): void {
    const own = this.counts.get(ownerOf(caller)) ?? 0;
    if (own >= MAX_PORTS_PER_CALLER)
      throw new DomainError('TOO_MANY_STREAMS', `You have ${own} connections to ports open; close one of them first.`);
    if (this.clients.size >= MAX_PORTS)
      throw new DomainError('TOO_MANY_STREAMS', `${MAX_PORTS} connections to ports are open; try again later.`);
  }

  /** Counts a client until it has left. @throws DomainError TOO_MANY_STREAMS */
  add(caller: Caller, client: PortClient): void {
    // Several requests may have been admitted at the same time.
    this.expectRoom(caller);
    const owner = ownerOf(caller);
    this.counts.set(owner, (this.counts.get(owner) ?? 0) + 1);
    this.clients.add(client);
    client.onClose(() => {
      if (!this.clients.delete(client)) return;
      const rest = (this.counts.get(owner) ?? 1) - 1;
      if (rest === 0) this.counts.delete(owner);
      else this.counts.set(owner, rest);
    });
  }

  beforeApplicationShutdown(): void {
    for (const client of this.clients) client.close(CLOSE_CODES.shutdown, 'The service is shutting down.');
  }
}

const ownerOf = ({ login, token }: Caller): string => (token === undefined ? `login ${login}` : `token ${token}`);
