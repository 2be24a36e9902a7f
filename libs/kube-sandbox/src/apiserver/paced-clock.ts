import { ManualClock } from './clock.js';

const STEP_MS = 20;
const PERIOD_MS = 5;

/**
 * A simulated time that passes in small steps, one per turn of the event loop. Unlike the system's clock, it does not
 * jump after a pause of the machine, so that every state of the cluster is seen, and a test can hold it.
 */
export class PacedClock extends ManualClock {
  private readonly timer = setInterval(() => this.advance(this.held ? 0 : STEP_MS), PERIOD_MS);
  private held = false;

  /** Nothing that takes time happens until `release`. */
  hold(): void {
    this.held = true;
  }

  release(): void {
    this.held = false;
  }

  override stop(): void {
    clearInterval(this.timer);
    super.stop();
  }
}
