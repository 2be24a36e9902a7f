import type { Reservation } from '@headgate/limits-core';
import type { Outcome } from '../http/outcome.js';

/** A reservation with its own definition of a failure. */
export interface ConditionalReservation {
  readonly reservation: Reservation;
  readonly isFailure: (error: unknown) => boolean;
}

const attempts = new WeakMap<object, Attempt>();

/** A request reserved under rates that count it depending on its outcome. */
export class Attempt {
  /** Whether the handler has started, so that its outcome counts and not that of the connection. */
  handled = false;

  private constructor(private readonly reservations: readonly ConditionalReservation[]) {}

  static begin(request: object, reservations: readonly ConditionalReservation[]): Attempt {
    const attempt = new Attempt(reservations);
    attempts.set(request, attempt);
    return attempt;
  }

  static of(request: object): Attempt | undefined {
    return attempts.get(request);
  }

  /**
   * Success clears the history of its keys, a failure counts, anything else releases the reservation. An unknown
   * outcome counts: otherwise, disconnecting early would allow unlimited attempts.
   */
  async settle(outcome: Outcome): Promise<void> {
    await Promise.all(
      this.reservations.map(({ reservation, isFailure }) => {
        if (outcome.kind === 'succeeded') return reservation.reset();
        if (outcome.kind === 'unknown' || isFailure(outcome.error)) return reservation.commit();
        return reservation.release();
      }),
    );
  }
}
