import {
  type Cap,
  CapExceeded,
  type CapLedger,
  type CapReservation,
  type CapWrite,
  type CountHeld,
} from '@headgate/limits-core';
import type { LiveConfig } from '../config/live-config.js';
import type { MainLink } from '../link/protocol.js';
import { type CapOptions, Caps, type CountFreshness } from './caps.js';

/** Counts of holders that the main process may ask for, by number. */
export class HeldCounts {
  private readonly counts = new Map<number, CountHeld>();
  private last = 0;

  add(count: CountHeld): { id: number; remove: () => void } {
    const id = ++this.last;
    this.counts.set(id, count);
    return { id, remove: () => void this.counts.delete(id) };
  }

  /** @throws RangeError for a number that is not in use */
  async run(id: number): Promise<number> {
    const count = this.counts.get(id);
    if (!count) throw new RangeError(`The count ${id} has ended.`);
    return count();
  }
}

/** The caps in a worker: the main process reserves, and asks this worker to count a holder whose count is unknown. */
export class RemoteCaps extends Caps {
  constructor(
    private readonly main: MainLink,
    private readonly counts: HeldCounts,
    own: { ledger: CapLedger; config: LiveConfig; freshness: CountFreshness; options: CapOptions },
  ) {
    super(own.ledger, own.config, own.freshness, own.options);
  }

  override async reserve(cap: Cap, write: CapWrite, count: CountHeld): Promise<CapReservation> {
    let failure: Error | undefined;
    const counting = this.counts.add(async () => {
      try {
        return await count();
      } catch (error) {
        failure = error as Error;
        throw error;
      }
    });
    try {
      const { held, limit } = await this.main.call('reserveCap', { cap: cap.name, write, count: counting.id });
      if (held === undefined)
        throw new CapExceeded({ cap: cap.name, resource: cap.resource, limit: limit ?? cap.limit });
      return this.reservationOf(held);
    } catch (error) {
      // The caller gets the answer of the homeserver, not that of the channel.
      throw failure ?? error;
    } finally {
      counting.remove();
    }
  }

  private reservationOf(held: number): CapReservation {
    let isOpen = true;
    const settle = (isWritten: boolean, added?: number) => {
      if (isOpen) this.main.notify('settleCap', { held, isWritten, added });
      isOpen = false;
    };
    return { granted: true, commit: (added) => settle(true, added), release: () => settle(false) };
  }
}
