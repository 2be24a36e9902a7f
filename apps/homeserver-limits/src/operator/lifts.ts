import { blockRateNamesOf } from '@headgate/limit-rules';
import { MemoryRateLimiter, type Rate, RateLimiter } from '@headgate/limits-core';
import { MatrixError } from '@headgate/matrix-protocol';
import type { AddressBlocks } from '../state/address-blocks.js';
import type { OperatorEntry, OperatorIdentity } from '../state/operator-entry.js';
import { OperatorJournal } from '../state/operator-journal.js';

export interface Lift {
  /** Whether there was anything to lift. */
  readonly lifted: boolean;
  /** The latest lift of the same key before this one, which explains why nothing was left. */
  readonly previous?: Pick<OperatorEntry, 'operator' | 'time' | 'reason'>;
}

/** Lifts blocks and forgets windows of keys, with an entry in the journal. */
export class Lifts {
  constructor(
    private readonly windows: MemoryRateLimiter,
    private readonly store: RateLimiter,
    private readonly journal: OperatorJournal,
    private readonly blocks?: Pick<AddressBlocks, 'lift'>,
  ) {}

  /** @throws MatrixError M_NOT_FOUND */
  rate(name: string): Rate {
    const rate = this.windows.rate(name);
    if (!rate) throw MatrixError.notFound('There is no such rate.');
    return rate;
  }

  /**
   * Resets a key's window, its block and everything that leads to the next one.
   * @throws MatrixError M_NOT_FOUND; 503 when the journal can't be written
   */
  lift(identity: OperatorIdentity, name: string, key: string, reason?: string): Promise<Lift> {
    const rates = [this.rate(name), ...blockRateNamesOf(name).flatMap((block) => this.windows.rate(block) ?? [])];
    return this.journal.perform<Lift>(
      { ...identity, action: 'lift', rule: name, key, reason },
      async (previous) => {
        const existed = await Promise.all(rates.map((rate) => this.store.reset(rate, key)));
        this.blocks?.lift(name.replace(/\.block$/, ''), key);
        const last = previous.findLast((one) => one.action === 'lift' && one.rule === name && one.key === key);
        const { operator, time, reason: lastReason } = last ?? {};
        return {
          lifted: existed.includes(true),
          ...(operator !== undefined && time !== undefined && { previous: { operator, time, reason: lastReason } }),
        };
      },
      ({ lifted }) => lifted,
    );
  }
}
