import { type Cap, CapExceeded, CapLedger, type CapWrite, type CountHeld } from '@headgate/limits-core';
import type { LiveConfig } from '../config/live-config.js';
import { LeastRecentlyUsed } from '../homeserver/least-recently-used.js';
import type { Answer } from '../wire/answer.js';
import { type Next, succeeded } from './bound.js';
import type { DecisionListener } from '@headgate/limits-nest';

export interface CountFreshness {
  /** How long a count is believed while there is room, in ms. 0: it is asked for each time. */
  believeMs: number;
  /** How long a count is believed that refuses somebody, in ms. */
  believeRefusalMs: number;
}

export interface CapOptions {
  now?: () => number;
  watch?: DecisionListener;
}

/** The caps that an operator sets. */
export class Caps {
  readonly filters: Cap;
  readonly accountData: Cap;
  readonly oneTimeKeys: Cap;
  readonly pushers: Cap;
  readonly delayedEvents: Cap;

  private readonly countedAt = new LeastRecentlyUsed<string, number>(100_000);
  private readonly now: () => number;
  private readonly watch: DecisionListener;

  constructor(
    readonly ledger: CapLedger,
    private readonly config: LiveConfig,
    private readonly freshness: CountFreshness,
    { now = Date.now, watch = () => undefined }: CapOptions = {},
  ) {
    this.now = now;
    this.watch = watch;
    const terms = this.terms();
    this.filters = ledger.define('filters', terms.filters);
    this.accountData = ledger.define('account_data', terms.accountData);
    this.oneTimeKeys = ledger.define('one_time_keys', terms.oneTimeKeys);
    this.pushers = ledger.define('pushers', terms.pushers);
    this.delayedEvents = ledger.define('delayed_events', terms.delayedEvents);
  }

  /** Takes over what a reload has changed. */
  reconfigure(): void {
    const terms = this.terms();
    this.ledger.define('filters', terms.filters);
    this.ledger.define('account_data', terms.accountData);
    this.ledger.define('one_time_keys', terms.oneTimeKeys);
    this.ledger.define('pushers', terms.pushers);
    this.ledger.define('delayed_events', terms.delayedEvents);
  }

  /**
   * Lets a write through while there is room for it. Only what was accepted counts; what is under way holds its room.
   * @throws CapExceeded after the holder's count has been asked for anew
   */
  async run(cap: Cap, write: CapWrite, count: CountHeld, next: Next): Promise<Answer> {
    const reservation = await this.reserve(cap, write, count);
    try {
      const answer = await next();
      if (succeeded(answer)) reservation.commit();
      return answer;
    } finally {
      reservation.release();
    }
  }

  /** For a holder that comes with this write and holds nothing else. @throws CapExceeded */
  requireRoom({ name, limit, resource }: Cap, amount: number): void {
    const granted = amount <= limit;
    this.watch(name, granted ? 'granted' : 'refused');
    if (!granted) throw new CapExceeded({ cap: name, limit, resource });
  }

  private async reserve(cap: Cap, write: CapWrite, count: CountHeld) {
    const mark = `${cap.name}\0${write.holder}`;
    const counted = async () => {
      const held = await count();
      this.countedAt.set(mark, this.now());
      return held;
    };
    this.doubtOlderThan(this.freshness.believeMs, cap, write.holder, mark);
    let answer = await this.ledger.reserve(cap, write, counted);
    if (!answer.granted && this.doubtOlderThan(this.freshness.believeRefusalMs, cap, write.holder, mark)) {
      answer = await this.ledger.reserve(cap, write, counted);
    }
    this.watch(cap.name, answer.granted ? 'granted' : 'refused');
    if (!answer.granted) throw new CapExceeded(answer);
    return answer;
  }

  private doubtOlderThan(ms: number, cap: Cap, holder: string, mark: string): boolean {
    const old = this.now() - (this.countedAt.get(mark) ?? -Infinity) >= ms;
    if (old) this.ledger.invalidate(cap, holder);
    return old;
  }

  private terms() {
    const { limits, delayed_events } = this.config.current;
    return {
      filters: { limit: limits.filters_per_user, resource: 'filters' },
      accountData: { limit: limits.account_data_per_user, resource: 'account-data types' },
      oneTimeKeys: { limit: limits.one_time_keys_per_device, resource: 'one-time keys' },
      pushers: { limit: limits.pushers_per_user, resource: 'pushers' },
      delayedEvents: { limit: delayed_events.max_per_room, resource: 'pending delayed events in one room' },
    };
  }
}
