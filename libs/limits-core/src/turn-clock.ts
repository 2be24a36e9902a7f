import { Clock, MonotonicClock } from './clock.js';

/** Readings that share one look at the source, however long the turn is. */
const SHARED_READINGS = 64;

/**
 * Reads its source once in a turn of the event loop, and again after 64 readings: a reading of the time costs more than
 * the decision made with it. It is never ahead of its source, and behind it by no more than the present turn.
 */
export class TurnClock extends Clock {
  readonly #source: Clock;
  readonly #endTurn = (): void => {
    this.#scheduled = false;
    this.#left = 0;
  };
  #now = 0;
  #left = 0;
  #scheduled = false;

  constructor(source: Clock = new MonotonicClock()) {
    super();
    this.#source = source;
  }

  override now(): number {
    if (this.#left === 0) this.#read();
    this.#left--;
    return this.#now;
  }

  #read(): void {
    this.#now = this.#source.now();
    this.#left = SHARED_READINGS;
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#endTurn);
  }
}
