import {
  type Cap,
  CapExceeded,
  CapLedger,
  type CapReservation,
  type CapWrite,
  type CountHeld,
} from '@headgate/limits-core';
import type { LiveConfig } from '../config/live-config.js';
import type { DecisionListener } from '@headgate/limits-nest';
import { type MatrixResponse, LeastRecentlyUsed, succeeded } from '@headgate/homeserver-contracts';

export interface CountFreshness {
  /** The maximum age of a count that grants a write, in ms. 0: it is counted each time. */
  maxAgeMs: number;
  /** The maximum age of a count that refuses a write, in ms. */
  maxRefusalAgeMs: number;
}

export interface CapOptions {
  now?: () => number;
  watch?: DecisionListener;
  /** Receives whether a count was cached. */
  onLookup?: (isHit: boolean) => void;
  /** The limit of a user; that of the cap when left out. */
  limitOf?: (cap: Pick<Cap, 'name' | 'limit'>, userId: string) => number;
  /** Receives each refusal. */
  onRefused?: (cap: string, refused: { key?: string; limit: number }) => void;
}

/** The configurable caps. */
export class Caps {
  readonly filters: Cap;
  readonly accountData: Cap;
  readonly oneTimeKeys: Cap;
  readonly pushers: Cap;
  readonly delayedEvents: Cap;

  private readonly countedAt = new LeastRecentlyUsed<string, number>(100_000);
  private readonly now: () => number;
  private readonly watch: DecisionListener;
  private readonly onLookup: NonNullable<CapOptions['onLookup']>;
  private readonly limitOf: NonNullable<CapOptions['limitOf']>;
  private readonly onRefused: NonNullable<CapOptions['onRefused']>;

  constructor(
    readonly ledger: CapLedger,
    private readonly config: LiveConfig,
    private readonly freshness: CountFreshness,
    options: CapOptions = {},
  ) {
    this.now = options.now ?? (() => performance.now());
    this.watch = options.watch ?? (() => undefined);
    this.onLookup = options.onLookup ?? (() => undefined);
    this.limitOf = options.limitOf ?? (({ limit }) => limit);
    this.onRefused = options.onRefused ?? (() => undefined);
    const terms = this.terms();
    this.filters = ledger.define('filters', terms.filters);
    this.accountData = ledger.define('account_data', terms.accountData);
    this.oneTimeKeys = ledger.define('one_time_keys', terms.oneTimeKeys);
    this.pushers = ledger.define('pushers', terms.pushers);
    this.delayedEvents = ledger.define('delayed_events', terms.delayedEvents);
  }

  /** Applies reloaded settings. */
  reconfigure(): void {
    const terms = this.terms();
    this.ledger.define('filters', terms.filters);
    this.ledger.define('account_data', terms.accountData);
    this.ledger.define('one_time_keys', terms.oneTimeKeys);
    this.ledger.define('pushers', terms.pushers);
    this.ledger.define('delayed_events', terms.delayedEvents);
  }

  /**
   * Runs a write if there is room for it. Only accepted writes count; a write in progress holds a reservation.
   * @param isHeld whether an accepted write has stored what it offered
   * @throws CapExceeded after counting the holder again
   */
  async run(
    cap: Cap,
    { isHeld = () => true, ...write }: CapWrite & { isHeld?: (response: MatrixResponse) => boolean },
    count: CountHeld,
    next: () => Promise<MatrixResponse>,
  ): Promise<MatrixResponse> {
    const reservation = await this.reserve(cap, write, count);
    try {
      const response = await next();
      if (succeeded(response) && isHeld(response)) reservation.commit();
      return response;
    } finally {
      reservation.release();
    }
  }

  /** For a holder that this write creates, so that it holds nothing else. @throws CapExceeded */
  requireRoom({ name, limit, resource }: Cap, amount: number): void {
    const granted = amount <= limit;
    this.watch(name, granted ? 'granted' : 'refused');
    if (granted) return;
    this.onRefused(name, { limit });
    throw new CapExceeded({ cap: name, limit, resource });
  }

  /** Reserves the amount of a write. @throws CapExceeded after counting the holder again */
  async reserve(general: Cap, write: CapWrite, count: CountHeld): Promise<CapReservation> {
    // Holders are a user, or a user and their device or room.
    const [userId = ''] = write.holder.split(' ', 1);
    const cap = { ...general, limit: this.limitOf(general, userId) };
    const cacheKey = `${cap.name}\0${write.holder}`;
    let wasCounted = false;
    const counted = async () => {
      wasCounted = true;
      const held = await count();
      this.countedAt.set(cacheKey, this.now());
      return held;
    };
    this.expireOlderThan(this.freshness.maxAgeMs, cap, write.holder, cacheKey);
    let result = await this.ledger.reserve(cap, write, counted);
    if (!result.granted && this.expireOlderThan(this.freshness.maxRefusalAgeMs, cap, write.holder, cacheKey)) {
      result = await this.ledger.reserve(cap, write, counted);
    }
    this.onLookup(!wasCounted);
    this.watch(cap.name, result.granted ? 'granted' : 'refused');
    if (result.granted) return result;
    this.onRefused(cap.name, { key: write.holder, limit: cap.limit });
    throw new CapExceeded(result);
  }

  private expireOlderThan(maxAgeMs: number, cap: Cap, holder: string, cacheKey: string): boolean {
    const isExpired = this.now() - (this.countedAt.get(cacheKey) ?? -Infinity) >= maxAgeMs;
    // A count that is never cached is exact between writes; in the middle of one, it could count that write twice.
    if (isExpired && maxAgeMs > 0) this.ledger.expire(cap, holder);
    else if (isExpired) this.ledger.invalidate(cap, holder);
    return isExpired;
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
