import type { Reservations } from '@headgate/domain-contracts';

/**
 * Keeps a replica that was suspended from changing the engines: the others have taken over its work, and may have
 * changed the same instances since. The backends are opened before the reservations are known.
 */
export class ReplicaFence {
  private reservations: Pick<Reservations, 'isLost'> | undefined;

  follow(reservations: Pick<Reservations, 'isLost'>): void {
    this.reservations = reservations;
  }

  /** Asked immediately before each request that changes an engine. */
  readonly mayWrite = (): boolean => this.reservations?.isLost !== true;
}
