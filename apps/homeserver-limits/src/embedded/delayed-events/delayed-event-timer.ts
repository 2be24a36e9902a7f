import type { WallClock } from '../clock.js';
import type { DelayedEvents } from './delayed-events.js';

/** The longest a timer of Node can wait. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** Sends delayed events when they are due; what fell due while the server was down, at the start. */
export class DelayedEventTimer {
  private timer?: NodeJS.Timeout;

  constructor(
    private readonly delayed: DelayedEvents,
    private readonly clock: WallClock,
  ) {}

  start(): void {
    this.delayed.changed.on('schedule', this.arm);
    this.fire();
  }

  stop(): void {
    this.delayed.changed.off('schedule', this.arm);
    clearTimeout(this.timer);
  }

  private readonly fire = (): void => {
    this.delayed.sendDue();
    this.arm();
  };

  // A timer may ring a little early; what is not due yet then waits for the next.
  private readonly arm = (): void => {
    clearTimeout(this.timer);
    const due = this.delayed.nextDue();
    if (due === undefined) return;
    this.timer = setTimeout(this.fire, Math.min(LONGEST_WAIT_MS, Math.max(1, due - this.clock.now())));
  };
}
