import type { Clock } from '@headgate/domain-contracts';
import type { GuestState } from './guest-state.js';

/** Pauses before a console is opened again that broke under a running guest, as in a live migration. */
const RETRY_DELAYS_MS = [100, 300, 1000, 2000, 4000];

/** Decides whether and when a console that broke is opened again. */
export class Reconnection {
  private attempts = 0;

  constructor(
    private readonly clock: Clock,
    private readonly guest: GuestState,
  ) {}

  /** The console works: the next break starts with the shortest delay. */
  succeeded(): void {
    this.attempts = 0;
  }

  /** Resolves with true when it is time to open the console again, with false when it has ended. */
  async wait(): Promise<boolean> {
    if (this.guest.isRunning()) {
      const delayMs = RETRY_DELAYS_MS[this.attempts++];
      if (delayMs === undefined) return false;
      await this.clock.delay(delayMs);
      if (this.guest.isRunning()) return true;
    }
    this.attempts = 0;
    return this.guest.whenRunning();
  }
}
