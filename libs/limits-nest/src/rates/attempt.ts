import type { Reservation } from '@headgate/limits-core';
import type { Outcome } from '../http/outcome.js';

/** Room that is settled alone, by its own idea of a failure. */
export interface PendingReservation {
  readonly reservation: Reservation;
  readonly isFailure: (error: unknown) => boolean;
}

const attempts = new WeakMap<object, Attempt>();

/** A request that has taken room under rates that judge it by what comes of it. */
export class Attempt {
  /** Its handler has begun, so that the handler's end decides, and not the connection's. */
  handled = false;

  private constructor(private readonly reservations: readonly PendingReservation[]) {}

  static begin(request: object, reservations: readonly PendingReservation[]): Attempt {
    const attempt = new Attempt(reservations);
    attempts.set(request, attempt);
    return attempt;
  }

  static of(request: object): Attempt | undefined {
    return attempts.get(request);
  }

  /**
   * Success wipes the history of its keys; a failure counts, anything else gives the room back. What ends unseen counts:
   * hanging up early would otherwise buy attempts without end.
   */
  async settle(outcome: Outcome): Promise<void> {
    await Promise.all(
      this.reservations.map(({ reservation, isFailure }) => {
        if (outcome.kind === 'succeeded') return reservation.forget();
        if (outcome.kind === 'unseen' || isFailure(outcome.error)) return reservation.keep();
        return reservation.release();
      }),
    );
  }
}
