import type { Clock } from '@headgate/domain-contracts';

/** How long a program waits between two requests, at first. */
export const POLL_SECONDS = 5;
/** How much longer, after each request that came too early. */
const SLOWER_SECONDS = 5;
const MAX_SECONDS = 60;
/** A timer of the program and the way to the service are not exact. */
const TOLERANCE_MS = 500;

interface Pace {
  readonly at: number;
  readonly seconds: number;
}

/** How often programs that wait for their login may ask. Other replicas and a restart do not know it. */
export class PollPace {
  private readonly paces = new Map<string, Pace>();

  constructor(private readonly clock: Clock) {}

  /** @returns how long the program waits from now on; longer than before if it has asked too early */
  next(id: string): { readonly seconds: number; readonly isTooFast: boolean } {
    const now = this.clock.now();
    const last = this.paces.get(id);
    const isTooFast = last !== undefined && now < last.at + last.seconds * 1000 - TOLERANCE_MS;
    const former = last?.seconds ?? POLL_SECONDS;
    const seconds = isTooFast ? Math.min(former + SLOWER_SECONDS, MAX_SECONDS) : former;
    this.paces.set(id, { at: now, seconds });
    return { seconds, isTooFast };
  }

  /** Forgets all but these. */
  keep(ids: ReadonlySet<string>): void {
    for (const id of this.paces.keys()) if (!ids.has(id)) this.paces.delete(id);
  }
}
