import { Clock, MonotonicClock } from './clock.js';

/** Readings that share one read of the source, however long the event loop turn lasts. */
const READINGS_PER_READ = 64;

/**
 * Reads its source once per turn of the event loop, and again after 64 readings: reading the time costs more than the
 * decision that needs it. It never runs ahead of its source, and lags it by at most the current turn.
 */
export class CachedClock extends Clock {
  private readonly source: Clock;
  private readonly endTurn = (): void => {
    this.scheduled = false;
    this.readingsLeft = 0;
  };
  private nowMs = 0;
  private readingsLeft = 0;
  private scheduled = false;

  constructor(source: Clock = new MonotonicClock()) {
    super();
    this.source = source;
  }

  override now(): number {
    if (this.readingsLeft === 0) this.read();
    this.readingsLeft--;
    return this.nowMs;
  }

  private read(): void {
    this.nowMs = this.source.now();
    this.readingsLeft = READINGS_PER_READ;
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(this.endTurn);
  }
}
