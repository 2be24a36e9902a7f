import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, DomainError, formatRef, KeyedQueue, Replicas, type InstanceRef } from '@headgate/domain-contracts';
import type { WebSocket } from 'ws';

/** How long a console stays claimed whose socket was never opened. */
const UNUSED_MS = 30_000;

/**
 * Gives each console of a VM to one replica, which shares it between its viewers: a cluster serves a screen once, so
 * sessions of two replicas would close each other.
 */
@Injectable()
export class ConsoleOwners implements OnApplicationShutdown {
  /** The open sockets of each console. */
  private readonly sockets = new Map<string, number>();
  /** For each console, what cancels the timeouts of the claims whose socket is not open yet. */
  private readonly opening = new Map<string, (() => void)[]>();
  /** The requests about each console: a release must not overtake a claim. */
  private readonly requests = new KeyedQueue();

  constructor(
    private readonly replicas: Replicas,
    private readonly clock: Clock,
  ) {}

  /** The consoles are free when this replica has left. */
  onApplicationShutdown(): void {
    for (const end of [...this.opening.values()].flat()) end();
  }

  /** @throws DomainError BUSY with the ID of the owner, if that is another replica */
  async claim(console: string, ref: InstanceRef): Promise<void> {
    const name = nameOf(console, ref);
    const end = this.begin(name);
    const owner = await this.requests
      .run(name, () => this.replicas.claim(name))
      .catch((error: unknown) => {
        end();
        throw error;
      });
    if (owner === this.replicas.id) return;
    end();
    throw new DomainError(
      'BUSY',
      `The replica ${owner} has this console of ${ref.name} open: the load balancer must send all requests of one console to the same replica.`,
      { details: { replica: owner } },
    );
  }

  /** Keeps the console until the socket is closed. */
  hold(console: string, ref: InstanceRef, socket: Pick<WebSocket, 'once'>): void {
    const name = nameOf(console, ref);
    this.opening.get(name)?.shift()?.();
    this.sockets.set(name, (this.sockets.get(name) ?? 0) + 1);
    socket.once('close', () => {
      const left = (this.sockets.get(name) ?? 1) - 1;
      if (left > 0) this.sockets.set(name, left);
      else this.sockets.delete(name);
      this.releaseUnused(name);
    });
  }

  /** @returns ends the claim, if its socket was not opened yet */
  private begin(name: string): () => void {
    const cancelTimeout = this.clock.after(UNUSED_MS, () => {
      end();
      this.releaseUnused(name);
    });
    const end = (): void => {
      cancelTimeout();
      const others = (this.opening.get(name) ?? []).filter((one) => one !== end);
      if (others.length > 0) this.opening.set(name, others);
      else this.opening.delete(name);
    };
    this.opening.set(name, [...(this.opening.get(name) ?? []), end]);
    return end;
  }

  private releaseUnused(name: string): void {
    const release = async (): Promise<void> => {
      if (!this.sockets.has(name) && !this.opening.has(name)) await this.replicas.release(name);
    };
    // If it can't be released now, it is free when this replica is gone, or after the next viewer.
    this.requests.run(name, release).catch(() => undefined);
  }
}

const nameOf = (console: string, ref: InstanceRef): string => `${console}/${formatRef(ref)}`;
